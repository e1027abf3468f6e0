import type { JsonText } from "../../protocol/json/text.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { TakeJoin } from "../../hub/hub.ts";
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
  follow(channel: string, send: TakeJoin): TakeJoin {
    const list = new MemberList(send, (done) => this.#ports.census(channel, done));
    if (this.#lists.size >= this.#forgetsAt) this.#forget();
    this.#lists.set(channel, list);
    return (type, info) => list.take(type, info);
  }

  /** The list for a new subscriber, once it has the subscriber itself, unless that one looks on; after a while in any case. */
  listFor(
    { context, identity }: WaitingSession,
    { channel, info }: Pick<Subscription, "channel" | "info">,
    done: Listed,
  ): void {
    const list = this.#lists.get(channel);
    if (list === undefined) {
      done(new Map());
      return;
    }
    if (identity.onlooker === true) {
      list.whenKnown(() => done(list.known ?? new Map()));
      return;
    }
    list.await(info, done);
    context.later?.(waitMs, () => list.giveUp(info, done));
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
  /** Whether the channel has subscribers here. */
  readonly isFollowed: (channel: string) => boolean;
}

/** Takes the members: the IDs of users, with the info that others get. */
type Listed = (members: ReadonlyMap<string, JsonText>) => void;

/** The members of one channel. */
class MemberList {
  readonly #send: TakeJoin;
  readonly #census: (done: (clients: readonly ClientInfo[] | undefined) => void) => void;
  /** The connections, by their IDs. */
  readonly #clients = new Map<string, MemberConnection>();
  /** How many connections each user has. */
  readonly #users = new Map<string, number>();
  readonly #waiting = new Map<string, Listed>();
  /** Those who wait for the census. */
  readonly #asked: (() => void)[] = [];
  #state: "unknown" | "asking" | "known" = "unknown";
  /** The joins and leaves that came before the census was answered. */
  #early: { readonly type: "join" | "leave"; readonly info: ClientInfo }[] = [];

  constructor(
    send: TakeJoin,
    census: (done: (clients: readonly ClientInfo[] | undefined) => void) => void,
  ) {
    this.#send = send;
    this.#census = census;
  }

  take(type: "join" | "leave", info: ClientInfo): void {
    if (this.#state === "known") this.#apply(type, info);
    else {
      this.#early.push({ type, info });
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

  /** Gives a subscriber that still waits the list without its own join, which hasn't come in time. */
  giveUp(info: ClientInfo, done: Listed): void {
    if (this.#waiting.get(info.client) !== done) return;
    this.#waiting.delete(info.client);
    const user = memberOf(info);
    const own: [string, JsonText][] =
      user === undefined || info.chanInfo === undefined ? [] : [[user, info.chanInfo]];
    done(new Map([...this.#members(), ...own]));
  }

  #ask(): void {
    if (this.#state !== "unknown") return;
    this.#state = "asking";
    this.#census((clients) => {
      const early = this.#early;
      this.#early = [];
      // Without an answer, the next one who comes or goes is a reason to ask again.
      this.#state = clients === undefined ? "unknown" : "known";
      this.#begin(clients ?? [], early);
      for (const { type, info } of early) this.#apply(type, info);
      for (const done of this.#asked.splice(0)) done();
    });
  }

  /** The members before what came early: of that, the census has the first part. */
  #begin(
    clients: readonly ClientInfo[],
    early: readonly { readonly type: "join" | "leave"; readonly info: ClientInfo }[],
  ): void {
    const before = new Map(clients.map((info) => [info.client, info] as const));
    for (const { type, info } of early.toReversed()) {
      if (type === "join") before.delete(info.client);
      else before.set(info.client, info);
    }
    this.#clients.clear();
    this.#users.clear();
    for (const info of before.values()) this.#add(info);
  }

  #apply(type: "join" | "leave", info: ClientInfo): void {
    const user = memberOf(info);
    if (user === undefined) return;
    this.#remove(info.client);
    const isOnly = !this.#users.has(user);
    if (type === "join") this.#add(info);
    if (isOnly) this.#send(type, info);
    if (type === "leave") return;
    const done = this.#waiting.get(info.client);
    this.#waiting.delete(info.client);
    done?.(this.#members());
  }

  #add(info: ClientInfo): void {
    const user = memberOf(info);
    if (user === undefined || info.chanInfo === undefined) return;
    this.#clients.set(info.client, { user, info: info.chanInfo });
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

/** A member's connection. */
interface MemberConnection {
  readonly user: string;
  readonly info: JsonText;
}

/** How long a subscriber waits for its own join to come back from the channel's object. */
const waitMs = 5_000;
const listsMin = 1_000;
