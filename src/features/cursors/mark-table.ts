import type { Coverage, ProofKind } from "./coverage.ts";
import { columnText, hasTable, type Sql, type SqlRow } from "../../sql.ts";
import { cursorLimits } from "./limits.ts";

/** A channel keeps this of each user: what the user has received and read (rules CU). */
export interface UserMark {
  readonly user: string;
  /** The epoch that the offsets are of. */
  readonly epoch: string;
  /** Everything up to this offset is read; undefined if the user has marked nothing. */
  readonly read: number | undefined;
  /** When the user marked that, in ms since 1970; undefined if the user has marked nothing. */
  readonly readMs: number | undefined;
  /** The top when the channel first had something to keep of the user. */
  readonly start: number;
  /** The history was lost, or began anew, after the user had marked something (rule CU5). */
  readonly isReset: boolean;
  /** The publications that are known to have arrived; undefined for none (rule CU10). */
  readonly covered: Coverage | undefined;
}

/**
 * The mark as it counts in the channel's epoch: offsets of an epoch that has ended mean nothing (rule CU5). Only the
 * beginning is the same in each epoch, also for a user who marked it before the first publication.
 *
 * @param epoch of the channel's stream; undefined without a stream
 */
export function inEpoch(mark: UserMark, epoch: string | undefined): UserMark {
  if (mark.epoch === epoch) return mark;
  const { user, read, readMs } = mark;
  const isReset = mark.isReset || (read ?? 0) > 0;
  const kept = read === 0 ? { read, readMs } : { read: undefined, readMs: undefined };
  return { user, epoch: epoch ?? "", ...kept, start: 0, isReset, covered: undefined };
}

/**
 * The table of what a channel keeps of its users: a row for each, which is written over (rule CU2). It is made with the
 * first row.
 */
export class MarkTable {
  readonly #sql: Sql;
  #exists: boolean;
  /** Undefined until somebody asks. */
  #count: number | undefined;
  /** The answers of {@link countRead} and {@link lastLooked} since a row was changed last: questions share them (rule CU44). */
  readonly #readCounts = new Map<string, number>();
  readonly #lastLooked = new Map<string, string | null>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "user_mark");
  }

  /** Whether nothing is kept of anybody. */
  get isEmpty(): boolean {
    return !this.#exists || this.#size === 0;
  }

  find(user: string): UserMark | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql.rows("SELECT * FROM user_mark WHERE user = ?", user);
    return row && markOf(row);
  }

  /** Writes a user's row. @returns false if the user has none, and there is no room for another one */
  write(mark: UserMark, isNew: boolean, nowMs: number): boolean {
    const { user, epoch, read, readMs, start, isReset, covered } = mark;
    const size = isNew ? this.#size : 0;
    if (isNew && size >= cursorLimits.marksMax) return false;
    this.#forgetAnswers();
    if (!this.#exists) this.#sql.run(table);
    this.#exists = true;
    this.#sql.run(
      "INSERT OR REPLACE INTO user_mark VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      user,
      readMs ?? nowMs,
      epoch,
      read ?? null,
      start,
      isReset ? 1 : 0,
      covered?.since ?? null,
      covered?.offset ?? null,
      covered?.by ?? null,
      covered?.atMs ?? null,
    );
    if (isNew) this.#count = size + 1;
    return true;
  }

  /**
   * What the users after a name have read of an epoch, in the order of the names. No more than
   * `cursorLimits.markRowsMax` rows are looked at.
   */
  page(after: string, epoch: string, limit: number): readonly ReadMark[] {
    if (!this.#exists) return [];
    const query = `SELECT user, read, time FROM (${looked}) WHERE epoch = ? AND read IS NOT NULL LIMIT ?`;
    return this.#sql.rows(query, after, cursorLimits.markRowsMax, epoch, limit).map(readMarkOf);
  }

  /** How many of the users whose rows {@link page} would look at have read up to an offset of an epoch. */
  countRead(after: string, epoch: string, offset: number): number {
    if (!this.#exists) return 0;
    return shared(this.#readCounts, JSON.stringify([after, epoch, offset]), () => {
      const query = `SELECT count(*) AS count FROM (${looked}) WHERE epoch = ? AND read >= ?`;
      const rows = this.#sql.rows(query, after, cursorLimits.markRowsMax, epoch, offset);
      return Number(rows[0]?.["count"]);
    });
  }

  /** How many of the users whose rows {@link page} would look at have read up to each offset of an epoch, and no further. */
  readCounts(after: string, epoch: string): readonly ReadCount[] {
    if (!this.#exists) return [];
    const query = `SELECT read, count(*) AS users FROM (${looked}) WHERE epoch = ? AND read IS NOT NULL GROUP BY read`;
    return this.#sql
      .rows(query, after, cursorLimits.markRowsMax, epoch)
      .map((row) => ({ read: Number(row["read"]), users: Number(row["users"]) }));
  }

  /** Whether a user comes after another one in the order of {@link page}. */
  isAfter(user: string, other: string): boolean {
    return this.#sql.rows("SELECT ? > ? AS later", user, other)[0]?.["later"] === 1;
  }

  /** The last user whose row {@link page} would look at; undefined if no row comes after it. */
  lastLooked(after: string): string | undefined {
    if (!this.#exists) return undefined;
    const last = shared(this.#lastLooked, after, () => {
      const query = "SELECT user FROM user_mark WHERE user > ? ORDER BY user LIMIT 2 OFFSET ?";
      const rows = this.#sql.rows(query, after, cursorLimits.markRowsMax - 1);
      return rows.length === 2 ? columnText(rows[0], "user") : null;
    });
    return last ?? undefined;
  }

  /** Deletes a user's row, if there is one. */
  remove(user: string): void {
    if (this.find(user) === undefined) return;
    const size = this.#size;
    this.#forgetAnswers();
    this.#sql.run("DELETE FROM user_mark WHERE user = ?", user);
    this.#count = size - 1;
  }

  /** The table is gone. */
  deleted(): void {
    this.#exists = false;
    this.#count = 0;
    this.#forgetAnswers();
  }

  #forgetAnswers(): void {
    this.#readCounts.clear();
    this.#lastLooked.clear();
  }

  get #size(): number {
    if (!this.#exists) return 0;
    return (this.#count ??= Number(
      this.#sql.rows("SELECT count(*) AS count FROM user_mark")[0]?.["count"],
    ));
  }
}

/** An answer that is kept already, or is found now and kept (rule CU44). */
function shared<Answer>(
  answers: Map<string, Answer>,
  question: string,
  find: () => Answer,
): Answer {
  const known = answers.get(question);
  if (known !== undefined) return known;
  if (answers.size >= cursorLimits.sharedAnswersMax) answers.clear();
  const answer = find();
  answers.set(question, answer);
  return answer;
}

/** How far a user has read, and when the user marked that. */
export interface ReadMark {
  readonly user: string;
  readonly read: number;
  readonly atMs: number;
}

/** How many users have read up to an offset. */
interface ReadCount {
  readonly read: number;
  readonly users: number;
}

/** The rows that one request looks at. */
const looked = "SELECT user, epoch, read, time FROM user_mark WHERE user > ? ORDER BY user LIMIT ?";

function readMarkOf(row: SqlRow): ReadMark {
  const user = columnText(row, "user");
  return { user, read: Number(row["read"]), atMs: Number(row["time"]) };
}

function markOf(row: SqlRow): UserMark {
  const read = row["read"];
  const epoch = columnText(row, "epoch");
  return {
    user: columnText(row, "user"),
    epoch,
    read: typeof read === "number" ? read : undefined,
    readMs: typeof read === "number" ? Number(row["time"]) : undefined,
    start: Number(row["start"]),
    isReset: row["reset"] === 1,
    covered: coverageOf(row, epoch),
  };
}

function coverageOf(row: SqlRow, epoch: string): Coverage | undefined {
  const offset = row["delivered"];
  if (typeof offset !== "number") return undefined;
  const since = Number(row["delivered_since"]);
  const by = proofKinds.find((kind) => kind === row["delivered_by"]) ?? "ping";
  return { epoch, since, offset, by, atMs: Number(row["delivered_ms"]) };
}

const proofKinds: readonly ProofKind[] = ["ping", "recovery", "command"];

const table = `CREATE TABLE user_mark (user TEXT PRIMARY KEY, time INTEGER NOT NULL, epoch TEXT NOT NULL,
  read INTEGER, start INTEGER NOT NULL, reset INTEGER NOT NULL, delivered_since INTEGER, delivered INTEGER,
  delivered_by TEXT, delivered_ms INTEGER) WITHOUT ROWID`;
