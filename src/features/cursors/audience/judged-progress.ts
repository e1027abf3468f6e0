import type { PartedChannel } from "../../../channel/channel-part.ts";
import { limits } from "../../../limits.ts";
import { dueMoment } from "../../../moment.ts";
import type { StreamPosition } from "../../../protocol/publication.ts";
import { columnText, hasTable, type Sql } from "../../../sql.ts";

/**
 * Says when a channel's publications are old enough to be judged for its audience, and which ones are (rules CU23 and
 * CU24). A row holds how far they are judged, so that each is judged once, through crashes. The rows of the history
 * hold how old they are. If these rows can't show it, because the first one is lost or the clock was set back, the top
 * and the time are written down. The publications up to that top are judged when that time is long enough ago.
 */
export class JudgedProgress {
  readonly #channel: Pick<PartedChannel, "stored" | "top">;
  readonly #table: JudgedTable;
  readonly #setup: ProgressSetup;
  /** The progress that is stored; undefined while no row is. */
  #judged: Judged | undefined;
  #isRunning = false;
  /** Whether the log of events has room to begin, or to go on (rule CU46). */
  hasRoom = (): boolean => true;
  /** When the first publication that isn't judged came, by its offset. */
  #first: { readonly offset: number; readonly ms: number } | undefined;

  constructor(setup: ProgressSetup) {
    const { channel, table, hasMembers, nowMs } = setup;
    this.#setup = setup;
    this.#channel = channel;
    this.#table = table;
    this.#judged = table.load();
    // Its members were there before a backend was told of anything.
    if (this.#judged === undefined && hasMembers()) this.begin(nowMs);
    // While its row is there: a burst may overwrite it before anybody asks.
    const { judged } = this;
    if (judged !== undefined && hasMembers()) this.#timeOfFirst(judged);
  }

  /** The publications that are being judged, or were judged last; undefined without members. */
  get judged(): Judged | undefined {
    const { top } = this.#channel;
    const judged = this.#judged;
    if (judged === undefined || top === undefined || judged.epoch === top.epoch) return judged;
    // A stream that has ended isn't judged any more, and all of the new one came after it.
    return { ...atRest, epoch: top.epoch, upTo: 0 };
  }

  /**
   * The audience gets its first member: earlier publications aren't judged. A row says so, in the commit of that member: an
   * instance that ends behind the commit of the first publication, and before its event ends, leaves no other trace of it.
   */
  begin(nowMs: number): void {
    this.#first = undefined;
    this.#isRunning = false;
    this.#write(fromTop(this.#channel.top), nowMs);
  }

  /** The table is gone, with all members. */
  deleted(): void {
    this.#table.deleted();
    this.#judged = undefined;
    this.#isRunning = false;
  }

  /** Call this when an event of the object ends: publications may have come. */
  note(nowMs: number): void {
    const { judged } = this;
    const { top, stored } = this.#channel;
    if (judged === undefined || top === undefined || this.#isRunning || judged.target > 0) return;
    if (top.offset <= judged.upTo || !this.#setup.hasMembers()) return;
    if (judged.sampleOffset > judged.upTo) {
      if (judged.sampleMs > nowMs) this.#write({ ...judged, sampleMs: nowMs }, nowMs);
      return;
    }
    const firstMs = this.#timeOfFirst(judged);
    const isKept = stored.oldestRow <= judged.upTo + 1;
    if (firstMs === undefined || !isKept || firstMs > nowMs) this.#sample(judged, top, nowMs);
  }

  /** When {@link next} is to be called, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    const { judged } = this;
    const { top } = this.#channel;
    if (judged === undefined || top === undefined || top.offset <= judged.upTo) return Infinity;
    if (!this.#setup.hasMembers()) return Infinity;
    // For the case of a crash.
    if (this.#isRunning) return nowMs + limits.crashAlarmMs;
    // The object settles when the backend has taken events.
    if (!this.hasRoom()) return Infinity;
    if (judged.askAtMs > 0) return dueMoment(judged.askAtMs, this.#setup.askAgainMs, nowMs);
    if (judged.target > 0) return nowMs;
    const sinceMs = judged.sampleOffset > judged.upTo ? judged.sampleMs : this.#timeOfFirst(judged);
    return (sinceMs ?? nowMs) + this.#setup.judgedAtAgeMs;
  }

  /** The publications to judge now; {@link finish} or {@link postpone} has to follow. Undefined if none is due. */
  next(nowMs: number): JudgedRange | undefined {
    this.note(nowMs);
    const { judged } = this;
    const { top } = this.#channel;
    if (judged === undefined || top === undefined || this.#isRunning) return undefined;
    if (this.dueAtMs(nowMs) > nowMs) return undefined;
    const last = judged.target > 0 ? judged.target : this.#newestOld(judged, top, nowMs);
    if (last <= judged.upTo) {
      this.#sample(judged, top, nowMs);
      return undefined;
    }
    this.#isRunning = true;
    const { epoch, upTo, after, asked } = judged;
    return { epoch, after: upTo, last, afterUser: after, asked };
  }

  /** Whether these are still being judged: the stream may have ended since. */
  isRunning({ epoch }: JudgedRange): boolean {
    const is = this.#isRunning && this.#channel.top?.epoch === epoch;
    if (!is) this.#isRunning = false;
    return is;
  }

  /** The publications have been judged for users up to this one: one row written. */
  passed({ last }: JudgedRange, user: string, nowMs: number): void {
    const { judged } = this;
    if (judged !== undefined) this.#write({ ...judged, target: last, after: user }, nowMs);
  }

  /** The log of events has no room for the users after this one: one row written (rule CU46). */
  pause(range: JudgedRange, user: string, nowMs: number): void {
    this.#isRunning = false;
    this.passed(range, user, nowMs);
  }

  /**
   * It isn't known yet who has received the publications: one row written. @param asked how often it was asked, as is
   * to be counted
   */
  postpone({ last }: JudgedRange, asked: number, askAtMs: number, nowMs: number): void {
    const { judged } = this;
    this.#isRunning = false;
    if (judged === undefined) return;
    this.#write({ ...judged, target: last, asked, askAtMs }, nowMs);
  }

  /** The publications have been judged for everybody: one row written. */
  finish({ epoch, last }: JudgedRange, nowMs: number): void {
    this.#isRunning = false;
    this.#first = undefined;
    this.#write({ ...atRest, epoch, upTo: last }, nowMs);
  }

  /** When a publication came, ms since 1970. If the history has lost it, the time of an earlier one. */
  timeOf(offset: number): number {
    const { firstMs = 0, sampleMs = 0 } = this.judged ?? {};
    return this.#channel.stored.timeOf(offset) ?? (firstMs || sampleMs);
  }

  #timeOfFirst({ upTo }: Judged): number | undefined {
    const offset = upTo + 1;
    if (this.#first?.offset === offset) return this.#first.ms;
    const ms = this.#channel.stored.timeOf(offset);
    this.#first = ms === undefined ? undefined : { offset, ms };
    return ms;
  }

  /** The newest publication that is old enough; the offset before the first one if none is known to be. */
  #newestOld(judged: Judged, top: StreamPosition, nowMs: number): number {
    const { upTo, sampleOffset, sampleMs } = judged;
    const oldMs = nowMs - this.#setup.afterMs;
    const sampled = sampleOffset > upTo && sampleMs <= oldMs ? sampleOffset : upTo;
    const { stored } = this.#channel;
    // Times never decrease with the offsets, and those that are lost are older than all that are kept.
    let [low, high] = [upTo, top.offset];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((stored.timeOf(middle) ?? -Infinity) <= oldMs) low = middle;
      else high = middle - 1;
    }
    return stored.timeOf(low) === undefined ? sampled : Math.max(low, sampled);
  }

  #sample(judged: Judged, { offset }: StreamPosition, nowMs: number): void {
    const firstMs = Math.min(this.#timeOfFirst(judged) ?? 0, nowMs);
    this.#write({ ...judged, sampleOffset: offset, sampleMs: nowMs, firstMs }, nowMs);
  }

  #write(judged: Judged, nowMs: number): void {
    this.#judged = judged;
    this.#table.write(judged, nowMs);
  }
}

/** Publications that are judged for the members of an audience. */
export interface JudgedRange {
  readonly epoch: string;
  /** They come after this offset. */
  readonly after: number;
  readonly last: number;
  /** The publications have been judged already for users up to this one. */
  readonly afterUser: string;
  /** How often objects were asked already who has received the publications. */
  readonly asked: number;
}

interface ProgressSetup {
  readonly channel: Pick<PartedChannel, "stored" | "top">;
  readonly table: JudgedTable;
  /** How old publications are at least when they are judged, in ms, and how old the oldest of them is then. */
  readonly afterMs: number;
  readonly judgedAtAgeMs: number;
  /** The longest time after which objects are asked again who has received publications. */
  readonly askAgainMs: number;
  readonly hasMembers: () => boolean;
  readonly nowMs: number;
}

function fromTop(top: StreamPosition | undefined): Judged {
  return { ...atRest, epoch: top?.epoch ?? "", upTo: top?.offset ?? 0 };
}

/** The row that says how far a channel's publications have been judged for its audience (rule CU24). */
export class JudgedTable {
  readonly #sql: Sql;
  #exists: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "audience_judged");
  }

  load(): Judged | undefined {
    const [row] = this.#exists ? this.#sql.rows("SELECT * FROM audience_judged") : [];
    if (row === undefined) return undefined;
    return {
      epoch: columnText(row, "epoch"),
      upTo: Number(row["up_to"]),
      sampleOffset: Number(row["sample_offset"]),
      sampleMs: Number(row["sample_ms"]),
      firstMs: Number(row["first_ms"]),
      target: Number(row["target"]),
      after: columnText(row, "after_user"),
      asked: Number(row["asked"]),
      askAtMs: Number(row["ask_at"]),
    };
  }

  /** One row written. */
  write(judged: Judged, nowMs: number): void {
    if (!this.#exists) this.#sql.run(table);
    this.#exists = true;
    this.#sql.run(
      "INSERT OR REPLACE INTO audience_judged VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      nowMs,
      judged.epoch,
      judged.upTo,
      judged.sampleOffset,
      judged.sampleMs,
      judged.firstMs,
      judged.target,
      judged.after,
      judged.asked,
      judged.askAtMs,
    );
  }

  /** The table is gone. */
  deleted(): void {
    this.#exists = false;
  }

  /** Forgets the progress, because nothing is reported any more. */
  clear(): void {
    if (this.#exists) this.#sql.run("DROP TABLE audience_judged");
    this.#exists = false;
  }
}

/** How far the publications of a channel have been judged. */
export interface Judged {
  readonly epoch: string;
  /** Everything up to this offset has been judged for everybody. */
  readonly upTo: number;
  /**
   * The top at the time {@link sampleMs}, for publications after {@link upTo} whose rows don't show how old they are:
   * the history has lost the first ones, or their times lie in the future. 0 for none.
   */
  readonly sampleOffset: number;
  readonly sampleMs: number;
  /** When the first publication after {@link upTo} came, if the history has lost it, ms since 1970; 0 if that isn't known. */
  readonly firstMs: number;
  /** The last offset that is being judged; 0 while nothing is. */
  readonly target: number;
  /** The last user for whom {@link target} was judged; "" for none. */
  readonly after: string;
  /**
   * How often objects were asked in vain who has received the publications, and when they are asked again. After the
   * wait for a ping the count goes on from another number.
   */
  readonly asked: number;
  readonly askAtMs: number;
}

/** Nothing is being judged. */
const atRest = {
  sampleOffset: 0,
  sampleMs: 0,
  firstMs: 0,
  target: 0,
  after: "",
  asked: 0,
  askAtMs: 0,
} as const satisfies Omit<Judged, "epoch" | "upTo">;

const table = `CREATE TABLE audience_judged (id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL,
  epoch TEXT NOT NULL, up_to INTEGER NOT NULL, sample_offset INTEGER NOT NULL, sample_ms INTEGER NOT NULL,
  first_ms INTEGER NOT NULL, target INTEGER NOT NULL, after_user TEXT NOT NULL, asked INTEGER NOT NULL,
  ask_at INTEGER NOT NULL)`;
