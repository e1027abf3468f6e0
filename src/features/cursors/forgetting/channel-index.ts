import type { Ordered } from "../../../contract/user-order.ts";
import { limits } from "../../../limits.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { HomePart, PartedHome } from "../../../object/part.ts";
import { forEachInTurns } from "../../../users/in-turns.ts";
import { cursorMethodsOf } from "../client-methods.ts";
import type { KeptAnswer, KeptUser } from "../calls.ts";
import { cursorLimits } from "../limits.ts";
import { columnText, hasTable, type Sql } from "../../../sql.ts";

/**
 * Knows in a home which channels keep something of its users, and has them forget a user (rules CU30 to CU34). A round
 * that was interrupted, or that a channel hasn't answered, goes on by the alarm.
 */
export class ChannelIndex implements HomePart {
  readonly #home: PartedHome;
  readonly #table: ChannelIndexTable;
  /** The users whose channels are being called. */
  readonly #active = new Set<string>();
  /** Failed passes of users, and when the next one is due, ms since 1970. */
  readonly #failed = new Map<string, { readonly times: number; readonly dueAtMs: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #timer: NextTimer;

  constructor(home: PartedHome, table: ChannelIndexTable) {
    this.#home = home;
    this.#table = table;
    const { platform } = home;
    this.#timer = new NextTimer(platform, (nowMs) => this.#goOn(nowMs));
  }

  /** A channel tells of whom it keeps something. */
  keep(channel: string, kept: readonly KeptUser[]): KeptAnswer {
    const nowMs = this.#home.platform.nowMs();
    const forget: string[] = [];
    for (const { user, forMs } of kept) {
      // The call itself may have taken that long: what could be older than a forgetting counts as older.
      const sinceMs = nowMs - forMs - cursorLimits.tellMs;
      if (!this.#table.add(user, channel, sinceMs, nowMs)) forget.push(user);
    }
    return { forget };
  }

  /** Has all channels forget a user. */
  forget(user: string, done: (ordered: Ordered) => void): void {
    const { platform, endEvent } = this.#home;
    const nowMs = platform.nowMs();
    this.#table.begin(user, nowMs);
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
    this.#pass(user);
    endEvent(platform.nowMs());
  }

  dueAtMs(nowMs: number): number {
    const isUnderWay = this.#table.underWay(1).length > 0;
    const againAtMs = isUnderWay ? nowMs + this.#pauseMs(nowMs) : Number.POSITIVE_INFINITY;
    return Math.min(againAtMs, this.#table.removalAtMs());
  }

  rang(nowMs: number): void {
    this.#table.remove(nowMs);
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
    const { endEvent } = this.#home;
    for (const user of this.#table.underWay(cursorLimits.forgottenAtOnce)) {
      const failed = this.#failed.get(user);
      const waitMs = (failed?.dueAtMs ?? 0) - nowMs;
      if (waitMs <= 0 || waitMs > limits.orderRetryMsMax) this.#pass(user);
    }
    endEvent(nowMs);
  }

  /** Calls the channels that have to forget a user, page by page. */
  #pass(user: string): void {
    if (this.#active.has(user) || this.#active.size >= cursorLimits.forgottenAtOnce) return;
    this.#active.add(user);
    let isAnswered = true;
    const page = (after: string, pagesLeft: number): void => {
      const channels = this.#table.remaining(user, after, cursorLimits.forgetCallsAtOnce);
      const last = channels.at(-1);
      if (last === undefined || pagesLeft === 0) {
        this.#passed(user, isAnswered);
        return;
      }
      forEachInTurns(
        channels,
        channels.length,
        (channel, answered) =>
          this.#call(user, channel, (isForgotten) => {
            isAnswered &&= isForgotten;
            answered();
          }),
        () => page(last, pagesLeft - 1),
      );
    };
    page("", cursorLimits.forgetPagesAtOnce);
  }

  #call(user: string, channel: string, done: (isForgotten: boolean) => void): void {
    this.#home.platform.call(
      "forgetUserHere",
      channel,
      [{ user }],
      limits.objectAnswerMs,
      (reply) => {
        const isForgotten = answerOf(reply) !== undefined;
        if (isForgotten) this.#table.acknowledged(user, channel);
        done(isForgotten);
      },
    );
  }

  /** A pass has ended: the user is forgotten, or there will be another one. */
  #passed(user: string, isAnswered: boolean): void {
    const { platform, endEvent } = this.#home;
    const nowMs = platform.nowMs();
    this.#active.delete(user);
    if (this.#table.remaining(user, "", 1).length === 0) {
      this.#failed.delete(user);
      this.#table.end(user);
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

/** Makes the index of a home; undefined if nothing is kept of users, and never was. */
export function newChannelIndex(home: PartedHome): ChannelIndex | undefined {
  const { config, platform } = home;
  const table = new ChannelIndexTable(platform.sql);
  const isKept = cursorMethodsOf(config) !== undefined || table.exists;
  return isKept ? new ChannelIndex(home, table) : undefined;
}

/** The seconds after which a backend should ask again whether a user is forgotten. */
const retryAfterSeconds = 5;

/**
 * The tables of a home: which channels keep something of its users, and which users are, or were lately, to be forgotten
 * (rules CU30 to CU34). They are made with the first row. A user's rounds of forgetting are numbered, and a channel's row
 * has the number of the round after which the channel began to keep something: those below the last round are to forget.
 */
export class ChannelIndexTable {
  readonly #sql: Sql;
  #exists: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "user_channel");
  }

  get exists(): boolean {
    return this.#exists;
  }

  /**
   * Adds a channel that has kept something of a user since a time.
   *
   * @param sinceMs ms since 1970, at the earliest
   * @returns false if the channel has to delete that instead: it is older than the last forgetting, or there is no room
   */
  add(user: string, channel: string, sinceMs: number, nowMs: number): boolean {
    const forgotten = this.forgotten(user, nowMs);
    if (forgotten !== undefined && sinceMs <= forgotten.atMs) return false;
    if (this.#count(user) >= cursorLimits.channelsPerUserMax && !this.#has(user, channel))
      return false;
    this.#create();
    const round = forgotten?.round ?? this.#lastRound(user);
    this.#sql.run("INSERT OR REPLACE INTO user_channel VALUES (?, ?, ?)", user, channel, round);
    return true;
  }

  /** Begins another round of forgetting a user. */
  begin(user: string, nowMs: number): void {
    this.#create();
    const round = Math.max(this.forgotten(user, nowMs)?.round ?? 0, this.#lastRound(user)) + 1;
    this.#sql.run("INSERT OR REPLACE INTO forgotten_user VALUES (?, ?, ?, 0)", user, nowMs, round);
  }

  /** The last round of forgetting a user; undefined if there was none lately. */
  forgotten(user: string, nowMs: number): Forgotten | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql.rows("SELECT * FROM forgotten_user WHERE user = ?", user);
    if (row === undefined) return undefined;
    const atMs = Number(row["time"]);
    if (atMs > nowMs) {
      // The clock was set back: as far as this clock knows, it is now.
      this.#sql.run("UPDATE forgotten_user SET time = ? WHERE user = ?", nowMs, user);
    }
    return { round: Number(row["round"]), atMs: Math.min(atMs, nowMs) };
  }

  /** Channels that still have to forget a user, in the order of their names. @param after a name; "" for the first ones */
  remaining(user: string, after: string, limit: number): readonly string[] {
    const rows = this.#sql.rows(remaining, user, after, limit);
    return rows.map((row) => columnText(row, "channel"));
  }

  /** A channel has forgotten a user; what it has told of since stays. */
  acknowledged(user: string, channel: string): void {
    this.#sql.run(acknowledged, user, channel);
  }

  /** All channels have forgotten a user. */
  end(user: string): void {
    this.#sql.run("UPDATE forgotten_user SET done = 1 WHERE user = ?", user);
  }

  /** Users whom not all channels have forgotten yet. */
  underWay(limit: number): readonly string[] {
    if (!this.#exists) return [];
    const rows = this.#sql.rows("SELECT user FROM forgotten_user WHERE done = 0 LIMIT ?", limit);
    return rows.map((row) => columnText(row, "user"));
  }

  /** When the first one is to be removed who is forgotten for good, ms since 1970; Infinity for never. */
  removalAtMs(): number {
    if (!this.#exists) return Number.POSITIVE_INFINITY;
    const [row] = this.#sql.rows("SELECT min(time) AS time FROM forgotten_user WHERE done = 1");
    const timeMs = row?.["time"];
    return typeof timeMs === "number"
      ? timeMs + cursorLimits.forgottenMs
      : Number.POSITIVE_INFINITY;
  }

  /** Removes those of whom no channel can tell any more what it kept before. */
  remove(nowMs: number): void {
    if (this.#exists) this.#sql.run(removal, nowMs - cursorLimits.forgottenMs);
  }

  #has(user: string, channel: string): boolean {
    const query = "SELECT 1 FROM user_channel WHERE user = ? AND channel = ?";
    return this.#sql.rows(query, user, channel).length > 0;
  }

  #count(user: string): number {
    if (!this.#exists) return 0;
    const query = "SELECT count(*) AS count FROM user_channel WHERE user = ?";
    return Number(this.#sql.rows(query, user)[0]?.["count"]);
  }

  #lastRound(user: string): number {
    if (!this.#exists) return 0;
    const query = "SELECT max(round) AS round FROM user_channel WHERE user = ?";
    return Number(this.#sql.rows(query, user)[0]?.["round"] ?? 0);
  }

  #create(): void {
    if (this.#exists) return;
    for (const table of tables) this.#sql.run(table);
    this.#exists = true;
  }
}

/** A round of forgetting a user. */
interface Forgotten {
  readonly round: number;
  /** When it was asked for, ms since 1970. */
  readonly atMs: number;
}

const lastRound = "(SELECT round FROM forgotten_user AS f WHERE f.user = user_channel.user)";
const remaining = `SELECT channel FROM user_channel WHERE user = ? AND channel > ? AND round < ${lastRound} ORDER BY channel LIMIT ?`;
const acknowledged = `DELETE FROM user_channel WHERE user = ? AND channel = ? AND round < ${lastRound}`;
const removal = "DELETE FROM forgotten_user WHERE done = 1 AND time <= ?";
const tables = [
  `CREATE TABLE user_channel (user TEXT, channel TEXT, round INTEGER NOT NULL, PRIMARY KEY (user, channel)) WITHOUT ROWID`,
  `CREATE TABLE forgotten_user (user TEXT PRIMARY KEY, time INTEGER NOT NULL, round INTEGER NOT NULL, done INTEGER NOT NULL) WITHOUT ROWID`,
] as const;
