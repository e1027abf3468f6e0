import type { StreamPosition } from "../../../src/protocol/publication.ts";
import { countsAsUnread, unreadMaxOf } from "./cursor-kinds.ts";
import type { PublicationLog } from "./publication-log.ts";

/**
 * What users may be told of marks and of what is unread, by what was marked and published (rules CU1, CU4 and CU6). It
 * knows what each client has got and when each answer came, and nothing of rows.
 */
export class CursorRules {
  readonly #publications: PublicationLog;
  readonly #publisherOf: (data: string) => string | undefined;
  /** What somebody has asked to mark for a user, in each epoch; "" for whatever epoch it is. */
  readonly #asked = new Map<string, AskedMark[]>();
  /** The furthest mark of which somebody has been told. */
  readonly #told = new Furthest();
  /** The furthest up to which a client of the user has said to have got everything. */
  readonly #claimed = new Furthest();
  /** The furthest that somebody was told to have arrived. */
  readonly #delivered = new Furthest();
  /** The offsets of the publications that have arrived, for each channel, user and epoch. */
  readonly #arrived = new Map<string, Set<number>>();
  readonly #nowMs: () => number;
  /** The marks of which somebody has been told, with the times. */
  readonly #marked = new Map<string, readonly { readonly read: number; readonly atMs: number }[]>();
  /** What is forgotten of users, the newest last. */
  readonly #forgettings = new Map<string, Forgetting[]>();
  /** The users who were ever named for an audience, by channel. */
  readonly #named = new Map<string, Set<string>>();
  /** Since when objects have to be sure that a user has got a publication, for each of both. */
  readonly #sureMs = new Map<string, number>();

  /** @param publisherOf gives the user whose client published this, if a client did */
  constructor(
    publications: PublicationLog,
    publisherOf: (data: string) => string | undefined,
    nowMs: () => number,
  ) {
    this.#publications = publications;
    this.#publisherOf = publisherOf;
    this.#nowMs = nowMs;
  }

  /** A backend names users for an audience. */
  names(channel: string, users: readonly string[]): void {
    const named = this.#named.get(channel) ?? new Set();
    for (const user of users) named.add(user);
    this.#named.set(channel, named);
  }

  /** Whether a user was ever named for the channel's audience. */
  wasNamed(channel: string, user: string): boolean {
    return this.#named.get(channel)?.has(user) === true;
  }

  /**
   * A backend has a user forgotten (rules CU30 to CU34). From now on marks may be lost, also those that come until a while
   * after the acknowledgement; and what was marked long before isn't known any more after it.
   *
   * @returns what to call when that is acknowledged
   */
  forgets(user: string): () => void {
    const forgetting: Forgetting = { begunMs: this.#nowMs(), doneMs: Number.POSITIVE_INFINITY };
    this.#forgettings.set(user, [...(this.#forgettings.get(user) ?? []), forgetting]);
    return () => {
      forgetting.doneMs = this.#nowMs();
    };
  }

  /** Somebody asks to mark. @param isOwn whether a client of the user says that it has got everything up to there */
  marks(channel: string, user: string, { epoch, offset }: StreamPosition, isOwn: boolean): void {
    const name = `${channel} ${user} ${epoch}`;
    const asked = this.#asked.get(name) ?? [];
    this.#asked.set(name, [...asked, { offset, atMs: this.#nowMs(), answeredMs: Infinity }]);
    if (isOwn) this.#claimed.reach(name, offset);
  }

  /** A publication has arrived at a program of the user. */
  arrived(channel: string, user: string, { epoch, offset }: StreamPosition): void {
    const name = `${channel} ${user} ${epoch}`;
    const known = this.#arrived.get(name);
    if (known === undefined) this.#arrived.set(name, new Set([offset]));
    else known.add(offset);
  }

  /**
   * A client that has got a publication, and has answered a ping since, is sent another ping on the same subscription. Its
   * object is sure of the publication since then, and the channel's object is when the subscription has ended.
   */
  isSure(channel: string, user: string, { epoch, offset }: StreamPosition): void {
    const name = `${channel} ${user} ${epoch} ${offset}`;
    if (!this.#sureMs.has(name)) this.#sureMs.set(name, this.#nowMs());
  }

  /** Whether objects had to be sure at this time that the user had got a publication, if nothing has failed. */
  hadToKnow(channel: string, user: string, { epoch, offset }: StreamPosition, atMs: number) {
    if (this.#forgettings.has(user)) return false;
    return (this.#sureMs.get(`${channel} ${user} ${epoch} ${offset}`) ?? Infinity) < atMs;
  }

  /** Up to where the user had been marked, as somebody had been told at this time. */
  readBefore(channel: string, user: string, epoch: string, atMs: number): number {
    return this.#surelyRead(`${channel} ${user} ${epoch}`, user, atMs);
  }

  /**
   * An object is sure that a user has got everything after an offset and up to another one: that is so now (rules CU10 to
   * CU16).
   */
  proven(
    channel: string,
    user: string,
    { epoch, since = 0, offset, by = "" }: DeliveredAnswer,
  ): void {
    const name = `${channel} ${user}`;
    const claimed = Math.max(this.#claimed.of(`${name} ${epoch}`), this.#claimed.of(`${name} `));
    const arrived = this.#arrived.get(`${name} ${epoch}`);
    for (let one = Math.max(since, claimed) + 1; one <= offset; one++) {
      if (arrived?.has(one) === true) continue;
      this.#complain(
        `${name} ${epoch} isn't known to have got ${one} of ${since} to ${offset} by ${by}`,
      );
      return;
    }
  }

  /** Whether the user has got a publication, or somebody has asked to mark it as read. */
  mayHaveSeen(channel: string, user: string, { epoch, offset }: StreamPosition): boolean {
    const arrived = this.#arrived.get(`${channel} ${user} ${epoch}`);
    return arrived?.has(offset) === true || offset <= this.#furthestAsked(channel, user, epoch);
  }

  /** A question for what has arrived was answered. */
  delivered({ channel, user, delivered }: KnownMarks, answer: DeliveredAnswer): void {
    const name = `${channel} ${user} ${answer.epoch}`;
    // It may have been forgotten.
    const known = this.#forgettings.has(user) ? 0 : (delivered.get(name) ?? 0);
    if (answer.offset < known) this.#complain(`${name} has got ${answer.offset} after ${known}`);
    this.#delivered.reach(name, answer.offset);
  }

  /** Gives what is known of a user's mark when a request is sent: an answer may not say less. */
  known(channel: string, user: string): KnownMarks {
    const atMs = this.#nowMs();
    return { channel, user, told: this.#told.copy, delivered: this.#delivered.copy, atMs };
  }

  /** A mark was answered. */
  marked(before: KnownMarks, { read, epoch }: MarkAnswer): void {
    const { channel, user, atMs } = before;
    const name = `${channel} ${user} ${epoch}`;
    const known = this.#knownOf(before, name);
    const asked = this.#furthestAsked(channel, user, epoch, atMs);
    if (read < known) this.#complain(`${name} is marked at ${read} after ${known}`);
    if (read > asked) this.#complain(`${name} is marked at ${read}, and was asked for ${asked}`);
    this.#told.reach(name, read);
    for (const mark of this.#askedOf(`${channel} ${user}`, epoch))
      if (mark.atMs === atMs) mark.answeredMs = Math.min(mark.answeredMs, this.#nowMs());
    const marks = this.#marked.get(name) ?? [];
    this.#marked.set(name, [...marks, { read, atMs: this.#nowMs() }]);
  }

  /**
   * A client that follows the receipts of a channel is shown a user's mark (rules CU39 and CU43).
   *
   * @param before the user's mark as it was shown before, on the same subscription
   */
  shown(channel: string, user: string, mark: MarkAnswer, before: MarkAnswer | undefined): void {
    const { read, epoch } = mark;
    const name = `${channel} ${user} ${epoch}`;
    const asked = this.#furthestAsked(channel, user, epoch);
    if (read > asked) this.#complain(`${name} is shown at ${read}, and was asked for ${asked}`);
    const wentBack = before?.epoch === epoch && read < before.read && !this.#forgettings.has(user);
    if (wentBack) this.#complain(`${name} is shown at ${read} after ${before.read}`);
  }

  /** A question for unread publications was answered. */
  counted(before: KnownMarks, answer: UnreadAnswer): void {
    const { channel, user, atMs } = before;
    const { unread, read, offset, epoch, capped = false, reset = false } = answer;
    const name = `${channel} ${user} ${epoch}`;
    const known = this.#knownOf(before, name);
    if (read < known) this.#complain(`${name} is counted from ${read} after a mark at ${known}`);
    if (reset && known > 0) this.#complain(`${name} has a mark at ${known}, and was reset`);
    const asked = this.#furthestAsked(channel, user, epoch, atMs);
    // Who has marked nothing is at the newest publication there.
    if (read > asked && !channel.startsWith("newest:"))
      this.#complain(`${name} is counted from ${read}, and was marked at ${asked}`);
    const max = unreadMaxOf(channel);
    const others = this.#publications.list(channel).filter(({ data, position }) => {
      const isAfter = position?.epoch === epoch && position.offset > read;
      const isOwn = this.#publisherOf(data) === user;
      return isAfter && position.offset <= offset && !isOwn && countsAsUnread(channel, data);
    });
    const least = Math.min(others.length, max);
    const most = Math.min(offset - read, max);
    // What the history doesn't keep any more counts, whose it was isn't known (rule CU6).
    if (unread < least || unread > most || (capped && unread !== max))
      this.#complain(`${name} has ${unread} unread after ${read}, and should ${least} to ${most}`);
  }

  /**
   * The furthest that somebody has asked to mark for a user, less what was forgotten for sure before a time: a mark that was
   * answered before a forgetting began, which was acknowledged long before then. A channel of which the user's home didn't
   * know yet forgets it a little later (rule CU32).
   */
  #furthestAsked(channel: string, user: string, epoch: string, beforeMs = 0): number {
    const done = (this.#forgettings.get(user) ?? []).filter(
      ({ doneMs }) => doneMs + underWayMs < beforeMs,
    );
    const fromMs = Math.max(0, ...done.map(({ begunMs }) => begunMs));
    const asked = this.#askedOf(`${channel} ${user}`, epoch);
    return Math.max(
      0,
      ...asked.flatMap(({ offset, answeredMs }) => (answeredMs >= fromMs ? [offset] : [])),
    );
  }

  #askedOf(name: string, epoch: string): readonly AskedMark[] {
    return [`${name} ${epoch}`, `${name} `].flatMap((one) => this.#asked.get(one) ?? []);
  }

  /** Up to where a user is marked for sure, by what somebody had been told before a time. */
  #surelyRead(name: string, user: string, beforeMs: number): number {
    const forgettings = this.#forgettings.get(user) ?? [];
    const fromMs = Math.max(0, ...forgettings.map(({ doneMs }) => doneMs + underWayMs));
    const marks = this.#marked.get(name) ?? [];
    const counting = marks.filter(({ atMs }) => atMs >= fromMs && atMs < beforeMs);
    return Math.max(0, ...counting.map(({ read }) => read));
  }

  /** What somebody knew, less what was forgotten since. */
  #knownOf({ user, atMs, told }: KnownMarks, name: string): number {
    return this.#forgettings.has(user) ? this.#surelyRead(name, user, atMs) : (told.get(name) ?? 0);
  }

  #complain(what: string): void {
    this.#publications.complain(what);
  }
}

/** What was known of a user's marks when a request was sent. */
export interface KnownMarks {
  readonly channel: string;
  readonly user: string;
  readonly told: ReadonlyMap<string, number>;
  readonly delivered: ReadonlyMap<string, number>;
  readonly atMs: number;
}

/** The answer to a question for what has arrived. */
export interface DeliveredAnswer {
  readonly offset: number;
  /** Absent: from the beginning. */
  readonly since?: number;
  readonly epoch: string;
  readonly by?: string;
}

/** The answer to a mark. */
export interface MarkAnswer {
  readonly read: number;
  readonly epoch: string;
}

/** The answer of one channel to a question for unread publications. */
export interface UnreadAnswer extends MarkAnswer {
  readonly unread: number;
  readonly offset: number;
  readonly capped?: boolean;
  readonly reset?: boolean;
}

interface AskedMark {
  readonly offset: number;
  readonly atMs: number;
  /** Infinity if it wasn't. */
  answeredMs: number;
}

interface Forgetting {
  readonly begunMs: number;
  /** When it was acknowledged; Infinity if it wasn't. */
  doneMs: number;
}

/** Longer than a call is under way, and than a channel tries to reach a home: until then marks may be forgotten, too. */
const underWayMs = 60_000;

/** The largest number of each name. */
class Furthest {
  #reached: ReadonlyMap<string, number> = new Map();

  get copy(): ReadonlyMap<string, number> {
    return this.#reached;
  }

  of(name: string): number {
    return this.#reached.get(name) ?? 0;
  }

  reach(name: string, offset: number): void {
    if (offset > this.of(name) || !this.#reached.has(name))
      this.#reached = new Map(this.#reached).set(name, offset);
  }
}
