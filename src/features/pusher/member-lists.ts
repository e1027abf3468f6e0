import type { JsonText } from "../../protocol/json/text.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { JoinTaker, TakeJoin } from "../../hub/hub.ts";
import type { DialectSession } from "../../session/dialect/dialect.ts";
import type { Subscription } from "../../session/subscription.ts";
import { memberOf } from "./presence-member.ts";

/**
 * The members of the presence channels of a gateway (rule PU6): each user once, however many connections the user has. Nothing
 * is stored here. A list begins with those of whom the channel's object has told, and then follows the joins and leaves of
 * connections, which come in order and each once. A gateway that has hibernated makes a census when the next of them comes.
 */
export class MemberLists {
  readonly #ports: MemberPorts;
  readonly #lists = new Map<string, MemberList>();
  /** How many lists there have to be for some to be forgotten. */
  #forgetsAt = listsMin;

  constructor(ports: MemberPorts) {
    this.#ports = ports;
  }

  /**
   * Follows a channel anew.
   *
   * @param send sends a join or a leave to the subscribers here
   */
  follow(channel: string, send: TakeJoin): JoinTaker {
    const { census, later } = this.#ports;
    const list = new MemberList(send, (done) => census(channel, done), later);
    if (this.#lists.size >= this.#forgetsAt) this.#forget();
    this.#lists.set(channel, list);
    return { take: (type, info) => list.take(type, info), missed: () => list.doubt() };
  }

  /**
   * The list for a new subscriber, once it has the subscriber itself, unless that one looks on: after a list without, it would
   * be told that it came.
   *
   * @param done isn't called if the subscription ends before
   */
  listFor(
    { context, identity, subscriptions }: WaitingSession,
    subscription: Pick<Subscription, "channel" | "info">,
    done: Listed,
  ): void {
    const { channel, info } = subscription;
    let isListed = false;
    const give: Listed = (members) => {
      isListed = true;
      done(members);
    };
    const look = (announces: boolean): void =>
      context.later?.(waitMs, () => {
        const list = this.#lists.get(channel);
        if (isListed || list === undefined) return;
        if (subscriptions.get(channel) !== subscription) list.forget(info, give);
        else if (!list.giveKnown(info, give)) {
          // The join may be lost: it is repeated a few times only.
          if (announces) this.#ports.announce(channel, info);
          look(true);
        }
      });
    const list = this.#lists.get(channel);
    if (list === undefined) done(new Map());
    else if (identity.onlooker === true) list.whenKnown(() => done(list.known ?? new Map()));
    else {
      list.await(info, give);
      look(false);
    }
  }

  /** Calls back once the members of a channel are known, or couldn't be found out. */
  whenKnown(channel: string, done: () => void): void {
    const list = this.#lists.get(channel);
    if (list === undefined) done();
    else list.whenKnown(done);
  }

  /** The members of a channel; undefined if they aren't known. */
  membersOf(channel: string): ReadonlyMap<string, JsonText> | undefined {
    return this.#lists.get(channel)?.known;
  }

  /** Forgets the lists of channels without subscribers here. */
  #forget(): void {
    for (const channel of this.#lists.keys())
      if (!this.#ports.isFollowed(channel)) this.#lists.delete(channel);
    this.#forgetsAt = Math.max(listsMin, 2 * this.#lists.size);
  }
}

/** The part of a subscriber's session by which its wait ends. */
interface WaitingSession {
  readonly subscriptions: { get(channel: string): object | undefined };
  readonly context: Pick<DialectSession["context"], "later">;
  readonly identity: Pick<DialectSession["identity"], "onlooker">;
}

interface MemberPorts {
  /**
   * Lists the connections of whom the channel's object has told its gateways, once everything that it had told by then has
   * come here; undefined if that failed.
   */
  readonly census: (
    channel: string,
    done: (clients: readonly ClientInfo[] | undefined) => void,
  ) => void;
  /** Tells the channel's object again that a connection is there. */
  readonly announce: (channel: string, info: ClientInfo) => void;
  readonly later: Later;
  /** Whether the channel has subscribers here. */
  readonly isFollowed: (channel: string) => boolean;
}

type Later = (waitMs: number, work: () => void) => void;

/** Takes the members: the IDs of users, with the info that others get. */
type Listed = (members: ReadonlyMap<string, JsonText>) => void;

/** The members of one channel. */
class MemberList {
  readonly #send: TakeJoin;
  readonly #census: (done: (clients: readonly ClientInfo[] | undefined) => void) => void;
  readonly #later: Later;
  /** The connections, by their IDs. */
  readonly #clients = new Map<string, MemberConnection>();
  /** How many connections each user has. */
  readonly #users = new Map<string, number>();
  readonly #waiting = new Map<string, Listed>();
  /** Those who wait for the census. */
  readonly #asked: (() => void)[] = [];
  #state: "unknown" | "asking" | "known" = "unknown";
  /** Whether subscribers know the list: then they are told how another census differs. */
  #isTold = false;
  /** Whether the census that is asked for may be from before something that was missed. */
  #isDoubted = false;
  /** The joins and leaves that came before the census was answered. */
  #early: EarlyJoin[] = [];

  constructor(
    send: TakeJoin,
    census: (done: (clients: readonly ClientInfo[] | undefined) => void) => void,
    later: Later,
  ) {
    this.#send = send;
    this.#census = census;
    this.#later = later;
  }

  take(type: "join" | "leave", info: ClientInfo): void {
    if (this.#state === "known") this.#apply(type, info);
    else {
      this.#early.push({ type, info });
      this.#ask();
    }
  }

  /** Joins or leaves may have been missed: a census shows them. */
  doubt(): void {
    if (this.#state === "asking") this.#isDoubted = true;
    else if (this.#state === "known") {
      this.#state = "unknown";
      this.#ask();
    }
  }

  /** Takes a subscriber that waits for the list. */
  await({ client }: ClientInfo, done: Listed): void {
    this.#waiting.set(client, done);
    this.#ask();
  }

  /** Calls back once the members are known, or couldn't be found out. */
  whenKnown(done: () => void): void {
    if (this.#state === "known") done();
    else {
      this.#asked.push(done);
      this.#ask();
    }
  }

  /** The members; undefined if they aren't known. */
  get known(): ReadonlyMap<string, JsonText> | undefined {
    return this.#state === "known" ? this.#members() : undefined;
  }

  /** A subscriber that waits has ended. */
  forget({ client }: ClientInfo, done: Listed): void {
    if (this.#waiting.get(client) === done) this.#waiting.delete(client);
  }

  /**
   * A subscriber has waited for a while: the list may have it by another way than its join.
   *
   * @returns whether it has been given the list
   */
  giveKnown(info: ClientInfo, done: Listed): boolean {
    this.await(info, done);
    return this.#give(info.client);
  }

  #ask(): void {
    if (this.#state !== "unknown") return;
    this.#state = "asking";
    this.#isDoubted = false;
    this.#census((clients) => {
      const isKnown = clients !== undefined && !this.#isDoubted;
      this.#state = isKnown ? "known" : "unknown";
      if (!isKnown) this.#later(retryMs, () => this.#askAgain());
      else {
        const early = this.#early;
        this.#early = [];
        if (this.#isTold) this.#amend(clients, early);
        else this.#begin(clients, early);
      }
      for (const done of this.#asked.splice(0)) done();
    });
  }

  #askAgain(): void {
    if (this.#isTold || this.#waiting.size > 0 || this.#early.length > 0) this.#ask();
  }

  /** The members before what came early: of that, the census has the first part. */
  #begin(clients: readonly ClientInfo[], early: readonly EarlyJoin[]): void {
    const before = new Map(clients.map((info) => [info.client, info] as const));
    for (const { type, info } of early.toReversed()) {
      if (type === "join") before.delete(info.client);
      else before.set(info.client, info);
    }
    for (const info of before.values()) this.#add(info);
    this.#isTold = true;
    for (const { type, info } of early) this.#apply(type, info);
  }

  /** Tells how the members differ from those who were told of. */
  #amend(clients: readonly ClientInfo[], early: readonly EarlyJoin[]): void {
    const now = new Map(clients.map((info) => [info.client, info] as const));
    for (const { type, info } of early) {
      if (type === "join") now.set(info.client, info);
      else now.delete(info.client);
    }
    for (const [client, { told }] of this.#clients)
      if (!now.has(client)) this.#apply("leave", told);
    for (const info of now.values()) this.#apply("join", info);
  }

  #apply(type: "join" | "leave", info: ClientInfo): void {
    const user = memberOf(info);
    if (user === undefined) return;
    const isNews = this.#clients.has(info.client) === (type === "leave");
    this.#remove(info.client);
    const isOnly = !this.#users.has(user);
    if (type === "join") this.#add(info);
    if (isNews && isOnly) this.#send(type, info);
    if (type === "join") this.#give(info.client);
  }

  /** Gives a subscriber that waits the list, if that has it. */
  #give(client: string): boolean {
    const done = this.#waiting.get(client);
    if (done === undefined || this.#state !== "known" || !this.#clients.has(client)) return false;
    this.#waiting.delete(client);
    done(this.#members());
    return true;
  }

  #add(info: ClientInfo): void {
    const user = memberOf(info);
    if (user === undefined || info.chanInfo === undefined) return;
    this.#clients.set(info.client, { user, info: info.chanInfo, told: info });
    this.#users.set(user, (this.#users.get(user) ?? 0) + 1);
  }

  #remove(client: string): void {
    const known = this.#clients.get(client);
    if (known === undefined) return;
    this.#clients.delete(client);
    const left = (this.#users.get(known.user) ?? 1) - 1;
    if (left === 0) this.#users.delete(known.user);
    else this.#users.set(known.user, left);
  }

  #members(): ReadonlyMap<string, JsonText> {
    return new Map([...this.#clients.values()].map(({ user, info }) => [user, info]));
  }
}

/** A join or a leave before the members are known. */
interface EarlyJoin {
  readonly type: "join" | "leave";
  readonly info: ClientInfo;
}

/** A member's connection. */
interface MemberConnection {
  readonly user: string;
  /** As it was told. */
  readonly told: ClientInfo;
  readonly info: JsonText;
}

/** After so long it is looked whether a subscriber that waits for its own join can be given the list. */
const waitMs = 5_000;
/** The pause before a census that failed is repeated. */
const retryMs = 1_000;
const listsMin = 1_000;
