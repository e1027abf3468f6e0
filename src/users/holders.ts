import { uidOfKey, userOfKey } from "../contract/identity-key.ts";
import { limits } from "../limits.ts";
import { elapsed, lastsAsLong } from "../moment.ts";
import { columnText, hasTable, type Sql } from "../sql.ts";

/**
 * The holders of a home's users and tokens: the objects that hold connections of a user, or something made with a
 * token.
 *
 * A registration that comes soon after another one needs no commit of its own (rule U42): it is in memory first, and its
 * row in the table `holder` is written later, together with others. Before the first such registration of a holder, the
 * holder gets a row in `unwritten_holder`. If the home's instance ends before it has written, the next one finds these
 * rows, and takes each such holder for a holder of everybody until the holder has said whom it holds (rule U41).
 *
 * ```text
 * register ─► mark the holder (a row, once) ─► in memory ── registrationsWriteMs ─► write all, delete the marks
 *                                                  └─ crash ─► marks are left: the holders are unsure ─► resolve
 * ```
 *
 * It reports when a user gets the first holder, and has lost the last one (rule E11). If these reports are wanted, each
 * registration is written at once, in the stretch that writes the report.
 */
export class Holders {
  readonly #sql: Sql;
  readonly #report: ReportOnline | undefined;
  /** Registrations that have no row yet, by key: the holders, with the ends of the registrations. */
  #unwritten = new Map<string, Map<string, number>>();
  #unwrittenCount = 0;
  /** When registrations were last written, ms since 1970. */
  #wroteAtMs = Number.NEGATIVE_INFINITY;
  /** The holders that have a row in `unwritten_holder`. */
  readonly #marked = new Set<string>();
  /** Those of them that an earlier instance has marked, and that haven't said whom they hold. */
  readonly #unsure = new Set<string>();
  /** By key, the unsure holders that have said that they hold nothing of it. */
  readonly #absent = new Map<string, Set<string>>();

  /** @param report absent if no backend gets events of users who are online */
  constructor(sql: Sql, report: ReportOnline | undefined) {
    this.#sql = sql;
    this.#report = report;
    if (!hasTable(sql, "unwritten_holder")) return;
    for (const row of sql.rows("SELECT holder FROM unwritten_holder")) {
      const holder = columnText(row, "holder");
      this.#marked.add(holder);
      this.#unsure.add(holder);
    }
  }

  /** The nodes of the holders of a user or a token, unsure ones included. To be called only if the table exists. */
  of(key: string): readonly string[] {
    const rows = this.#written(key);
    const unwritten = this.#unwritten.get(key);
    if (unwritten === undefined && this.#unsure.size === 0) return rows;
    const absent = this.#absent.get(key);
    const unsure = [...this.#unsure].filter((holder) => absent?.has(holder) !== true);
    return [...new Set([...rows, ...(unwritten?.keys() ?? []), ...unsure])];
  }

  /** The holders that have to be asked whom they hold. */
  get unsure(): readonly string[] {
    return [...this.#unsure];
  }

  /** Whether registrations have no row yet. */
  get hasUnwritten(): boolean {
    return this.#unwrittenCount > 0;
  }

  /** Whether so many have none that they are to be written at once. */
  get isFull(): boolean {
    return this.#unwrittenCount >= limits.registrationsUnwrittenMax;
  }

  /**
   * Notes a holder. To be called only if the table exists.
   *
   * @param endSeconds when the registration may be forgotten, in seconds since 1970; 0 for never
   */
  register(key: string, holder: string, endSeconds: number, nowMs: number): void {
    if (this.#report !== undefined) {
      this.#writeAtOnce(key, holder, endSeconds);
      return;
    }
    this.#absent.get(key)?.delete(holder);
    // One that comes alone costs a row, where the mark would cost two more.
    if (!this.hasUnwritten && this.#isQuiet(nowMs)) {
      this.#writeAtOnce(key, holder, endSeconds);
      this.#wroteAtMs = nowMs;
      return;
    }
    this.#mark(holder);
    const holders = this.#unwritten.get(key) ?? new Map<string, number>();
    this.#unwritten.set(key, holders);
    const known = holders.get(holder);
    if (known === undefined) this.#unwrittenCount++;
    if (known === undefined || !lastsAsLong(known, endSeconds)) holders.set(holder, endSeconds);
  }

  /** The object holds nothing of the user or the token any more: a row, if it was noted. */
  remove(key: string, holder: string): void {
    if (this.#unwritten.get(key)?.delete(holder) === true) this.#unwrittenCount--;
    if (this.#unsure.has(holder)) {
      const absent = this.#absent.get(key) ?? new Set();
      this.#absent.set(key, absent.add(holder));
    }
    const before = this.#isReported(key) ? this.#written(key).length : 0;
    this.#sql.run("DELETE FROM holder WHERE user = ? AND holder = ?", key, holder);
    if (before > 0 && this.#written(key).length === 0) this.#report?.(userOfKey(key), false);
  }

  /**
   * Writes all registrations that have no row yet, in one commit, and with it deletes the marks of holders that aren't
   * unsure.
   *
   * @returns what was written
   */
  write(nowMs: number): readonly (readonly [key: string, holder: string])[] {
    const written: (readonly [string, string])[] = [];
    let values: (string | number)[] = [];
    for (const [key, holders] of this.#unwritten) {
      for (const [holder, endSeconds] of holders) {
        written.push([key, holder]);
        values.push(key, holder, endSeconds);
        if (written.length % heldAtOnce !== 0) continue;
        this.#sql.run(holdMany(), ...values);
        values = [];
      }
    }
    for (let first = 0; first < values.length; first += 3)
      this.#sql.run(hold, ...values.slice(first, first + 3));
    if (written.length > 0) this.#wroteAtMs = nowMs;
    this.#unwritten = new Map();
    this.#unwrittenCount = 0;
    for (const holder of this.#marked) {
      if (this.#unsure.has(holder)) continue;
      this.#sql.run("DELETE FROM unwritten_holder WHERE holder = ?", holder);
      this.#marked.delete(holder);
    }
    return written;
  }

  /** An unsure holder has said whom it holds, and they are registered by now. Its mark goes with the next {@link write}. */
  resolved(holder: string): void {
    this.#unsure.delete(holder);
    if (this.#unsure.size === 0) this.#absent.clear();
  }

  /** Whether no registration was written lately, but for those of the same call. */
  #isQuiet(nowMs: number): boolean {
    return (
      nowMs === this.#wroteAtMs || elapsed(this.#wroteAtMs, limits.registrationsWriteMs, nowMs)
    );
  }

  #writeAtOnce(key: string, holder: string, endSeconds: number): void {
    const isFirst = this.#isReported(key) && this.#written(key).length === 0;
    this.#sql.run(hold, key, holder, endSeconds);
    if (isFirst) this.#report?.(userOfKey(key), true);
  }

  #written(key: string): readonly string[] {
    const rows = this.#sql.rows("SELECT holder FROM holder WHERE user = ?", key);
    return rows.map((row) => columnText(row, "holder"));
  }

  #mark(holder: string): void {
    if (this.#marked.has(holder)) return;
    if (this.#marked.size === 0) this.#sql.run(markTable);
    this.#sql.run("INSERT OR IGNORE INTO unwritten_holder VALUES (?)", holder);
    this.#marked.add(holder);
  }

  /** Nobody is online by a token: its connections are those of users. */
  #isReported(key: string): boolean {
    return this.#report !== undefined && uidOfKey(key) === undefined;
  }
}

/** Takes that a user is online from now on, or isn't any more. */
export type ReportOnline = (user: string, isOnline: boolean) => void;

/**
 * Without a rowid, the primary key is the table's only index, and a row costs one row written. `until` says until when the
 * holder may hold what was made with a token, in seconds since 1970; 0 for a user, and for no end.
 */
export const holderTable = `CREATE TABLE holder (user TEXT, holder TEXT, until INTEGER NOT NULL,
  PRIMARY KEY (user, holder)) WITHOUT ROWID`;

const markTable = `CREATE TABLE IF NOT EXISTS unwritten_holder (holder TEXT PRIMARY KEY) WITHOUT ROWID`;

/** A registration that says no more than the one before writes no row. */
const orLonger = `ON CONFLICT DO UPDATE SET until = excluded.until
  WHERE until <> 0 AND (excluded.until = 0 OR excluded.until > until)`;
const hold = `INSERT INTO holder VALUES (?, ?, ?) ${orLonger}`;
/** A statement takes 100 values at most. */
const heldAtOnce = 32;

/** The same for {@link heldAtOnce} registrations. */
function holdMany(): string {
  const rows = Array.from({ length: heldAtOnce }, () => "(?, ?, ?)");
  return `INSERT INTO holder VALUES ${rows.join(", ")} ${orLonger}`;
}
