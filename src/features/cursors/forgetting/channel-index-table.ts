import { columnText, hasTable, type Sql } from "../../../sql.ts";
import { cursorLimits } from "../limits.ts";

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
