import type { Ordered } from "../../../contract/user-order.ts";
import { limits } from "../../../limits.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import type { HomePart, PartedHome } from "../../../object/part.ts";
import { forEachInTurns } from "../../../users/in-turns.ts";
import type { KeptAnswer, KeptUser } from "../calls.ts";
import { cursorLimits } from "../limits.ts";
import { columnText, hasTable, type Sql } from "../../../sql.ts";

/**
 * Knows in a home which channels keep something of its users, and makes them forget a user (rules CU30 to CU34). The
 * alarm continues a round that was interrupted, or that a channel hasn't answered.
 */
export abstract class UserIndex implements HomePart {
  protected readonly home: PartedHome;
  protected readonly table: UserIndexTable;
  /** The users whose channels are being called. */
  readonly #active = new Set<string>();
  /** Failed passes of users, and when the next one is due, ms since 1970. */
  readonly #failed = new Map<string, { readonly times: number; readonly dueAtMs: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #timer: NextTimer;

  constructor(home: PartedHome, table: UserIndexTable) {
    this.home = home;
    this.table = table;
    const { platform } = home;
    this.#timer = new NextTimer(platform, (nowMs) => this.#goOn(nowMs));
  }

  /** A channel reports the users of whom it keeps something. */
  keep(channel: string, kept: readonly KeptUser[]): KeptAnswer {
    const nowMs = this.home.platform.nowMs();
    const forget: string[] = [];
    for (const { user, forMs } of kept) {
      // The call itself may have taken that long. If something may be older than a forgetting, it counts as older.
      const sinceMs = nowMs - forMs - cursorLimits.tellMs;
      const outcome = this.table.add(user, channel, sinceMs, nowMs);
      if (outcome !== "kept" && this.deletes(outcome, user, channel)) forget.push(user);
    }
    return { forget };
  }

  /**
   * Says what follows if a channel that keeps something of a user isn't in the index.
   *
   * @param outcome late: what it keeps is older than the last forgetting; full: there is no room
   * @returns whether the channel has to delete that itself
   */
  protected abstract deletes(outcome: "late" | "full", user: string, channel: string): boolean;

  /** Makes a channel forget a user. @param done whether it certainly has */
  protected abstract call(
    user: string,
    channel: string,
    done: (isForgotten: boolean) => void,
  ): void;

  /** Makes all channels forget a user. */
  forget(user: string, done: (ordered: Ordered) => void): void {
    const { platform, endEvent } = this.home;
    const nowMs = platform.nowMs();
    this.table.begin(user, nowMs);
    this.#failed.delete(user);
    const waiting = this.#waiting.get(user) ?? new Set();
    this.#waiting.set(user, waiting);
    const late = platform.after(limits.orderAnswerMs, () => {
      waiting.delete(answer);
      done({ outcome: "pending", retryAfterSeconds });
    });
    const answer = (): void => {
      late.cancel();
      done({ outcome: "done" });
    };
    waiting.add(answer);
    this.pass(user);
    endEvent(platform.nowMs());
  }

  dueAtMs(nowMs: number): number {
    const isUnderWay = this.table.underWay(1).length > 0;
    const againAtMs = isUnderWay ? nowMs + this.#pauseMs(nowMs) : Number.POSITIVE_INFINITY;
    return Math.min(againAtMs, this.table.removalAtMs());
  }

  rang(nowMs: number): void {
    this.table.remove(nowMs);
    this.#goOn(nowMs);
  }

  /** How long until the first user's channels are called again. */
  #pauseMs(nowMs: number): number {
    const pauses = [...this.#failed.values()].map(({ dueAtMs }) => dueAtMs - nowMs);
    const first = Math.min(cursorLimits.forgetAgainMs, ...pauses);
    return Math.max(first, cursorLimits.forgetPauseMs);
  }

  /** Calls the channels of users again, as far as that is due. */
  #goOn(nowMs: number): void {
    const { endEvent } = this.home;
    for (const user of this.table.underWay(cursorLimits.forgottenAtOnce)) {
      const failed = this.#failed.get(user);
      const waitMs = (failed?.dueAtMs ?? 0) - nowMs;
      if (waitMs <= 0 || waitMs > limits.orderRetryMsMax) this.pass(user);
    }
    endEvent(nowMs);
  }

  /** Calls the channels that have to forget a user, page by page. */
  protected pass(user: string): void {
    if (this.#active.has(user) || this.#active.size >= cursorLimits.forgottenAtOnce) return;
    this.#active.add(user);
    let isAnswered = true;
    const page = (after: string, pagesLeft: number): void => {
      const channels = this.table.remaining(user, after, cursorLimits.forgetCallsAtOnce);
      const last = channels.at(-1);
      if (last === undefined || pagesLeft === 0) {
        this.#passed(user, isAnswered);
        return;
      }
      forEachInTurns(
        channels,
        channels.length,
        (channel, answered) =>
          this.call(user, channel, (isForgotten) => {
            if (isForgotten) this.table.acknowledged(user, channel);
            isAnswered &&= isForgotten;
            answered();
          }),
        () => page(last, pagesLeft - 1),
      );
    };
    page("", cursorLimits.forgetPagesAtOnce);
  }

  /** A pass has ended: the user is forgotten, or there will be another one. */
  #passed(user: string, isAnswered: boolean): void {
    const { platform, endEvent } = this.home;
    const nowMs = platform.nowMs();
    this.#active.delete(user);
    if (this.table.remaining(user, "", 1).length === 0) {
      this.#failed.delete(user);
      this.table.end(user);
      for (const answer of this.#waiting.get(user) ?? []) answer();
      this.#waiting.delete(user);
    } else {
      const times = isAnswered ? 0 : (this.#failed.get(user)?.times ?? 0) + 1;
      const growingMs = limits.orderRetryMs * 2 ** Math.min(times, 20);
      const pauseMs = isAnswered ? 0 : Math.min(growingMs, limits.orderRetryMsMax);
      this.#failed.set(user, { times, dueAtMs: nowMs + pauseMs });
      // A backend waits; without one the alarm goes on.
      if ((this.#waiting.get(user)?.size ?? 0) > 0) this.#timer.set(pauseMs, nowMs);
    }
    endEvent(platform.nowMs());
  }
}

/** The seconds after which a backend should ask again whether a user is forgotten. */
const retryAfterSeconds = 5;

/**
 * The tables of a home: which channels keep something of its users, and which users are, or were lately, to be
 * forgotten (rules CU30 to CU34). They are made with the first row. A user's rounds of forgetting are numbered. A
 * channel's row has the number of the round after which the channel began to keep something: channels with a number
 * below the last round have to forget.
 */
export class UserIndexTable {
  readonly #sql: Sql;
  readonly #names: IndexNames;
  readonly #statements: ReturnType<typeof statementsOf>;
  #exists: boolean;

  constructor(sql: Sql, names: IndexNames) {
    this.#sql = sql;
    this.#names = names;
    this.#statements = statementsOf(names);
    this.#exists = hasTable(sql, names.channels);
  }

  get exists(): boolean {
    return this.#exists;
  }

  /**
   * Adds a channel that has kept something of a user since a time.
   *
   * @param sinceMs ms since 1970, at the earliest
   * @returns late, with nothing done, if that is older than the last forgetting; full if there is no room
   */
  add(user: string, channel: string, sinceMs: number, nowMs: number): "kept" | "late" | "full" {
    const forgotten = this.forgotten(user, nowMs);
    if (forgotten !== undefined && sinceMs <= forgotten.atMs) return "late";
    if (this.#count(user) >= cursorLimits.channelsPerUserMax && !this.has(user, channel))
      return "full";
    this.#create();
    this.#write(user, channel, forgotten?.round ?? this.#lastRound(user));
    return "kept";
  }

  /** Has the last round of forgetting a user, which is still known, go on with a channel. */
  reopen(user: string, channel: string, nowMs: number): void {
    this.#write(user, channel, (this.forgotten(user, nowMs)?.round ?? 1) - 1);
    this.#sql.run(this.#statements.done, 0, user);
  }

  /** Adds the name of no channel, which no round looks at. */
  note(user: string, name: string): void {
    this.#create();
    this.#write(user, name, 0);
  }

  #write(user: string, channel: string, round: number): void {
    this.#sql.run(this.#statements.write, user, channel, round);
  }

  /** Begins another round of forgetting a user. */
  begin(user: string, nowMs: number): void {
    this.#create();
    const round = Math.max(this.forgotten(user, nowMs)?.round ?? 0, this.#lastRound(user)) + 1;
    this.#sql.run(this.#statements.begin, user, nowMs, round);
  }

  /** The last round of forgetting a user; undefined if there was none lately. */
  forgotten(user: string, nowMs: number): Forgotten | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql.rows(this.#statements.forgotten, user);
    if (row === undefined) return undefined;
    const atMs = Number(row["time"]);
    if (atMs > nowMs) {
      // The clock was set back: as far as this clock knows, it is now.
      this.#sql.run(this.#statements.time, nowMs, user);
    }
    return { round: Number(row["round"]), atMs: Math.min(atMs, nowMs) };
  }

  /** Channels that still have to forget a user, in the order of their names. @param after a name; "" for the first ones */
  remaining(user: string, after: string, limit: number): readonly string[] {
    const rows = this.#sql.rows(this.#statements.remaining, user, after, limit);
    return rows.map((row) => columnText(row, "channel"));
  }

  /** A channel has forgotten a user. Its reports since then stay. */
  acknowledged(user: string, channel: string): void {
    this.#sql.run(this.#statements.acknowledged, user, channel);
  }

  /** All channels have forgotten a user. */
  end(user: string): void {
    this.#sql.run(this.#statements.done, 1, user);
  }

  /** Users whom not all channels have forgotten yet. */
  underWay(limit: number): readonly string[] {
    if (!this.#exists) return [];
    const rows = this.#sql.rows(this.#statements.underWay, limit);
    return rows.map((row) => columnText(row, "user"));
  }

  /** When the first user who is forgotten for good is to be removed, ms since 1970; Infinity for never. */
  removalAtMs(): number {
    if (!this.#exists) return Number.POSITIVE_INFINITY;
    const [row] = this.#sql.rows(this.#statements.firstDone);
    const timeMs = row?.["time"];
    return typeof timeMs === "number"
      ? timeMs + cursorLimits.forgottenMs
      : Number.POSITIVE_INFINITY;
  }

  /** Removes the users for whom no channel can still report what it kept before the forgetting. */
  remove(nowMs: number): void {
    if (this.#exists) this.#sql.run(this.#statements.removal, nowMs - cursorLimits.forgottenMs);
  }

  /** Whether a channel is known to keep something of a user, or a name is noted. */
  has(user: string, channel: string): boolean {
    if (!this.#exists) return false;
    return this.#sql.rows(this.#statements.has, user, channel).length > 0;
  }

  #count(user: string): number {
    if (!this.#exists) return 0;
    return Number(this.#sql.rows(this.#statements.count, user)[0]?.["count"]);
  }

  #lastRound(user: string): number {
    if (!this.#exists) return 0;
    return Number(this.#sql.rows(this.#statements.lastRound, user)[0]?.["round"] ?? 0);
  }

  #create(): void {
    if (this.#exists) return;
    for (const statement of this.#names.create) this.#sql.run(statement);
    this.#exists = true;
  }
}

/** A round of forgetting a user. */
interface Forgotten {
  readonly round: number;
  /** When it was asked for, ms since 1970. */
  readonly atMs: number;
}

/** The names of an index's tables, and the statements that make them. */
export interface IndexNames {
  readonly channels: string;
  readonly forgotten: string;
  readonly create: readonly string[];
}

/** The columns of the table of channels. */
export const channelColumns =
  "(user TEXT, channel TEXT, round INTEGER NOT NULL, PRIMARY KEY (user, channel)) WITHOUT ROWID";
/** The columns of the table of users who are, or were, to be forgotten. */
export const forgottenColumns =
  "(user TEXT PRIMARY KEY, time INTEGER NOT NULL, round INTEGER NOT NULL, done INTEGER NOT NULL) WITHOUT ROWID";

function statementsOf({ channels, forgotten }: IndexNames) {
  const lastRound = `(SELECT round FROM ${forgotten} AS f WHERE f.user = ${channels}.user)`;
  return {
    write: `INSERT OR REPLACE INTO ${channels} VALUES (?, ?, ?)`,
    begin: `INSERT OR REPLACE INTO ${forgotten} VALUES (?, ?, ?, 0)`,
    forgotten: `SELECT * FROM ${forgotten} WHERE user = ?`,
    time: `UPDATE ${forgotten} SET time = ? WHERE user = ?`,
    remaining: `SELECT channel FROM ${channels} WHERE user = ? AND channel > ? AND round < ${lastRound} ORDER BY channel LIMIT ?`,
    acknowledged: `DELETE FROM ${channels} WHERE user = ? AND channel = ? AND round < ${lastRound}`,
    done: `UPDATE ${forgotten} SET done = ? WHERE user = ?`,
    underWay: `SELECT user FROM ${forgotten} WHERE done = 0 LIMIT ?`,
    firstDone: `SELECT min(time) AS time FROM ${forgotten} WHERE done = 1`,
    removal: `DELETE FROM ${forgotten} WHERE done = 1 AND time <= ?`,
    has: `SELECT 1 FROM ${channels} WHERE user = ? AND channel = ?`,
    count: `SELECT count(*) AS count FROM ${channels} WHERE user = ?`,
    lastRound: `SELECT max(round) AS round FROM ${channels} WHERE user = ?`,
  } as const;
}
