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
  /** The furthest that somebody has asked to mark for a user, in each epoch; "" for whatever epoch it is. */
  readonly #asked = new Furthest();
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
  /** While which connections an object could be sure of a publication, for each of it and of the user. */
  readonly #sure = new Map<string, Map<object, Span>>();

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

  /** Somebody asks to mark. @param isOwn whether a client of the user says that it has got everything up to there */
  marks(channel: string, user: string, { epoch, offset }: StreamPosition, isOwn: boolean): void {
    this.#asked.reach(`${channel} ${user} ${epoch}`, offset);
    if (isOwn) this.#claimed.reach(`${channel} ${user} ${epoch}`, offset);
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
   * object has been sure of the publication since the first of these times, and has to be until the last one.
   */
  staysSure(
    channel: string,
    user: string,
    { epoch, offset }: StreamPosition,
    subscription: object,
  ): void {
    const name = `${channel} ${user} ${epoch} ${offset}`;
    const spans = this.#sure.get(name) ?? new Map<object, Span>();
    this.#sure.set(name, spans);
    const nowMs = this.#nowMs();
    const { fromMs } = spans.get(subscription) ?? { fromMs: nowMs };
    spans.set(subscription, { fromMs, toMs: nowMs });
  }

  /** Whether an object had to be sure at this time that the user had got a publication, if nothing has failed. */
  hadToKnow(channel: string, user: string, { epoch, offset }: StreamPosition, atMs: number) {
    const spans =
      this.#sure.get(`${channel} ${user} ${epoch} ${offset}`) ?? new Map<object, Span>();
    return [...spans.values()].some(({ fromMs, toMs }) => fromMs < atMs && atMs < toMs);
  }

  /** Up to where the user had been marked, as somebody had been told at this time. */
  readBefore(channel: string, user: string, epoch: string, atMs: number): number {
    const marks = this.#marked.get(`${channel} ${user} ${epoch}`) ?? [];
    return Math.max(0, ...marks.flatMap((mark) => (mark.atMs < atMs ? [mark.read] : [])));
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
    const known = delivered.get(name) ?? 0;
    if (answer.offset < known) this.#complain(`${name} has got ${answer.offset} after ${known}`);
    this.#delivered.reach(name, answer.offset);
  }

  /** Gives what is known of a user's mark when a request is sent: an answer may not say less. */
  known(channel: string, user: string): KnownMarks {
    return { channel, user, told: this.#told.copy, delivered: this.#delivered.copy };
  }

  /** A mark was answered. */
  marked({ channel, user, told }: KnownMarks, { read, epoch }: MarkAnswer): void {
    const name = `${channel} ${user} ${epoch}`;
    const known = told.get(name) ?? 0;
    const asked = this.#furthestAsked(channel, user, epoch);
    if (read < known) this.#complain(`${name} is marked at ${read} after ${known}`);
    if (read > asked) this.#complain(`${name} is marked at ${read}, and was asked for ${asked}`);
    this.#told.reach(name, read);
    const marks = this.#marked.get(name) ?? [];
    this.#marked.set(name, [...marks, { read, atMs: this.#nowMs() }]);
  }

  /** A question for unread publications was answered. */
  counted({ channel, user, told }: KnownMarks, answer: UnreadAnswer): void {
    const { unread, read, offset, epoch, capped = false, reset = false } = answer;
    const name = `${channel} ${user} ${epoch}`;
    const known = told.get(name) ?? 0;
    if (read < known) this.#complain(`${name} is counted from ${read} after a mark at ${known}`);
    if (reset && known > 0) this.#complain(`${name} has a mark at ${known}, and was reset`);
    const asked = this.#furthestAsked(channel, user, epoch);
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

  #furthestAsked(channel: string, user: string, epoch: string): number {
    const name = `${channel} ${user}`;
    return Math.max(this.#asked.of(`${name} ${epoch}`), this.#asked.of(`${name} `));
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

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

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
