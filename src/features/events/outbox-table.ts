import type { EventType } from "./config.ts";
import { eventLimits } from "./limits.ts";
import type { Erased } from "../../contract/erased.ts";
import { changeTags } from "../../protocol/change-tags.ts";
import { utf8Length } from "../../protocol/bytes.ts";
import { newestRow, nextSlice, type Ring, slotRuns } from "../../ring.ts";
import { columnText, hasTable, type Sql, type SqlRow } from "../../sql.ts";

/**
 * The two SQLite tables of an outbox: `outbox`, with one row, and `event`, a ring of rows in which an event lies at slot
 * number % size. A row says how many bytes those before it have, so that what is kept is known from its two ends (rule
 * E18). `Outbox` decides what is stored and what is sent.
 */
export class OutboxTable {
  readonly #sql: Sql;
  readonly #statements: ReturnType<typeof statementsOf>;
  /** The names of both tables. */
  readonly #outbox: string;
  readonly #event: string;
  #size: number;
  #first = 0;
  #exists = false;
  /** The oldest event that wasn't deleted; a newer one may have overwritten it since. */
  #oldest = 0;
  /** The bytes of the events up to the newest one, and of those before the oldest one, or less. */
  #bytes = 0;
  #bytesGone = 0;

  /**
   * @param size   of the ring, from now on
   * @param prefix of the tables' names: an object may have several outboxes
   */
  constructor(sql: Sql, size: number, prefix = "") {
    this.#sql = sql;
    this.#size = size;
    this.#outbox = `${prefix}outbox`;
    this.#event = `${prefix}event`;
    this.#statements = statementsOf(prefix);
  }

  get exists(): boolean {
    return this.#exists;
  }

  /** The number of the object's first event; 0 if there is none. */
  get first(): number {
    return this.#first;
  }

  /** The number of the oldest event that the ring still has. */
  oldest(last: number): number {
    return Math.max(this.#oldest, last - this.#size + 1);
  }

  /** The number of the oldest event that stays when one with so many bytes follows the newest one. */
  oldestWith(bytes: number, last: number): number {
    const oldest = this.oldest(last + 1);
    const goneMin = this.#bytes + bytes - eventLimits.eventsBytesMax;
    if (this.#bytesGone >= goneMin) return oldest;
    for (const { low, high } of slotRuns(oldest, last, this.#size)) {
      const [row] = this.#sql.rows(this.#statements.enough, low, high, goneMin);
      if (row === undefined) continue;
      this.#bytesGone = Number(row["before"]);
      return Number(row["number"]);
    }
    return last + 1;
  }

  /**
   * Reads what a former instance stored: the row of `outbox`, and the rows that {@link newestRow} reads. A ring of another
   * size is moved once.
   *
   * @returns the newest number that was given, if all events were deleted; undefined if nothing is stored
   */
  load(): StoredOutbox | number | undefined {
    const sql = this.#sql;
    if (!hasTable(sql, this.#outbox)) return undefined;
    const [row] = sql.rows(`SELECT size, first, delivered, failures, retry FROM ${this.#outbox}`);
    if (row === undefined) return undefined;
    this.#first = Number(row["first"]);
    if (this.#first === 0) return Number(row["delivered"]);
    const newest = newestRow(sql, ringOf(this.#event), Number(row["size"]));
    if (newest === undefined) return undefined;
    this.#exists = true;
    const last = Number(newest["number"]);
    if (Number(row["size"]) !== this.#size) this.#resize(last);
    this.#measure(last, newest);
    // The row of `outbox` and the newest event both say how far the target is. The greater number was written later.
    const isNoted = Number(row["delivered"]) >= Number(newest["delivered"]);
    const marks = newest["marks"];
    return {
      last,
      lastMs: Number(newest["time"]),
      delivered: Number((isNoted ? row : newest)["delivered"]),
      failures: isNoted ? Number(row["failures"]) : 0,
      retryAtMs: isNoted ? Number(row["retry"]) : 0,
      marks: new Map(typeof marks === "string" ? parseMarks(marks) : []),
    };
  }

  /** Makes both tables, for a first event with this number. */
  create(first: number): void {
    for (const statement of this.#statements.create) this.#sql.run(statement);
    this.#sql.run(this.#statements.begin, this.#size, first, first - 1);
    this.#first = first;
    this.#oldest = first;
    this.#exists = true;
  }

  /**
   * Deletes all events and the checkpoint of the reported connections. The row of `outbox` stays, with the newest
   * number.
   */
  clear(last: number): void {
    for (const statement of this.#statements.clear) this.#sql.run(statement);
    this.#sql.run(
      `UPDATE ${this.#outbox} SET first = 0, delivered = ?, failures = 0, retry = 0`,
      last,
    );
    this.#exists = false;
    this.#first = 0;
    this.#oldest = 0;
    this.#bytes = 0;
    this.#bytesGone = 0;
  }

  /** Deletes what {@link clear} left. */
  drop(): void {
    this.#sql.run(`DROP TABLE ${this.#outbox}`);
  }

  /** Writes the newest event into its slot, and deletes those before the oldest one that stays: a row written for each. */
  append({ number, timeMs, delivered, marks, type, body, bytes, oldest }: AppendedEvent): void {
    const before = this.oldest(number);
    if (oldest > before) {
      for (const { low, high } of slotRuns(before, oldest - 1, this.#size))
        this.#sql.run(`DELETE FROM ${this.#event} WHERE slot BETWEEN ? AND ?`, low, high);
      this.#oldest = oldest;
    }
    const marked = marks.size === 0 ? null : JSON.stringify([...marks]);
    const slot = number % this.#size;
    const row = [slot, number, timeMs, delivered, marked, this.#bytes, type, body];
    this.#sql.run(this.#statements.upsert, ...row);
    this.#bytes += bytes;
  }

  /** Stores how far the target is in the row of `outbox`: one row written. */
  storeProgress({ delivered, failures, retryAtMs }: Progress): void {
    this.#sql.run(
      `UPDATE ${this.#outbox} SET delivered = ?, failures = ?, retry = ?`,
      delivered,
      failures,
      retryAtMs,
    );
  }

  /** The times and sizes of the events with these numbers, oldest first, read in portions. */
  *sizes(first: number, last: number): Generator<EventSize> {
    for (let from = first; from <= last; from += measuredAtOnce) {
      const to = Math.min(last, from + measuredAtOnce - 1);
      for (const { low, high } of slotRuns(from, to, this.#size)) {
        for (const row of this.#sql.rows(this.#statements.sizes, low, high, from, to)) {
          yield {
            number: Number(row["number"]),
            timeMs: Number(row["time"]),
            bytes: Number(row["bytes"]),
          };
        }
      }
    }
  }

  /** Reads the events with these numbers, oldest first. @param types absent for all */
  read(first: number, last: number, types?: readonly EventType[]): readonly StoredEvent[] {
    const wanted = types === undefined ? "" : `AND type IN (${types.map(() => "?").join(",")})`;
    const query = `SELECT number, time, body FROM ${this.#event}
      WHERE slot BETWEEN ? AND ? AND number BETWEEN ? AND ? ${wanted} ORDER BY slot`;
    return slotRuns(first, last, this.#size)
      .flatMap(({ low, high }) => this.#sql.rows(query, low, high, first, last, ...(types ?? [])))
      .map((row) => ({
        number: Number(row["number"]),
        timeMs: Number(row["time"]),
        body: columnText(row, "body"),
      }));
  }

  /**
   * Overwrites the bodies of publications that are erased, in their places, in a slice of the slots: a row written for each
   * (rule E20).
   *
   * @returns the slot at which the next slice begins; undefined if there is none
   */
  erase({ offsets, user, by }: Erased, from: number): number | undefined {
    if (!this.#exists) return undefined;
    const numbers = offsets.map(() => "?").join();
    const slice = nextSlice(this.#sql, this.#event, from, eventLimits.eventsErasedAtOnce);
    const found = this.#sql.rows(
      erasedEvents(this.#event, numbers),
      slice.low,
      slice.high,
      by,
      ...offsets,
      ...offsets,
      ...offsets,
      user ?? null,
      user ?? null,
    );
    for (const row of found) {
      const left = columnText(row, "left_body");
      const blanks = Math.max(0, Number(row["bytes"]) - utf8Length(left));
      const body = left + " ".repeat(blanks);
      this.#sql.run(`UPDATE ${this.#event} SET body = ? WHERE slot = ?`, body, Number(row["slot"]));
    }
    return slice.isLast ? undefined : slice.high + 1;
  }

  /** Reads which event is the oldest one, and the bytes at both ends: 3 rows at most. */
  #measure(last: number, newest: SqlRow): void {
    const after = `SELECT number, before FROM ${this.#event} WHERE slot > ? ORDER BY slot LIMIT 1`;
    const sql = this.#sql;
    const oldest = sql.rows(after, last % this.#size)[0] ?? sql.rows(after, -1)[0];
    this.#oldest = Number(oldest?.["number"]);
    this.#bytesGone = Number(oldest?.["before"]);
    const [size] = [...this.sizes(last, last)];
    this.#bytes = Number(newest["before"]) + (size?.bytes ?? 0);
  }

  /** Moves the newest events to a ring of the size that is set now: a row written for each, once. */
  #resize(last: number): void {
    const size = this.#size;
    this.#sql.transaction(() => {
      const event = this.#event;
      this.#sql.run(`ALTER TABLE ${event} RENAME TO ${event}_before`);
      this.#sql.run(`CREATE TABLE ${event} (${eventColumns})`);
      this.#sql.run(
        `INSERT INTO ${event} SELECT number % ?, number, time, delivered, marks, before, type, body FROM ${event}_before
          WHERE number > ?`,
        size,
        last - size,
      );
      this.#sql.run(`DROP TABLE ${event}_before`);
      this.#sql.run(`UPDATE ${this.#outbox} SET size = ?`, size);
    });
  }
}

/** An outbox as a former instance stored it. */
interface StoredOutbox extends Progress {
  /** The number of the newest event, and when it happened. */
  readonly last: number;
  readonly lastMs: number;
  readonly marks: ReadonlyMap<string, string>;
}

/** How far the target is. */
interface Progress {
  /** The number of the last event that it has taken. */
  readonly delivered: number;
  /** Batches in a row that it hasn't taken, and when to send the next one, ms since 1970; 0 for at once. */
  readonly failures: number;
  readonly retryAtMs: number;
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly number: number;
  readonly timeMs: number;
  /** Its other fields as JSON, without the braces. */
  readonly body: string;
}

/** The event that is added. */
interface AppendedEvent extends StoredEvent {
  readonly delivered: number;
  readonly marks: ReadonlyMap<string, string>;
  readonly type: string;
  /** The bytes of the body. */
  readonly bytes: number;
  /** The number of the oldest event that stays with it. */
  readonly oldest: number;
}

interface EventSize {
  readonly number: number;
  readonly timeMs: number;
  readonly bytes: number;
}

function parseMarks(text: string): readonly (readonly [string, string])[] {
  const marks: readonly (readonly [string, string])[] = JSON.parse(text);
  return marks;
}

function ringOf(table: string): Ring {
  return { table, number: "number", columns: "number, time, delivered, marks, before" };
}

const eventColumns = `
  slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, time INTEGER NOT NULL, delivered INTEGER NOT NULL, marks TEXT,
  before INTEGER NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL`;

function changedBy(name: string): string {
  return `CAST(body ->> '$.tags."${name}"' AS INTEGER)`;
}

/** The events of publications up to an offset that are erased, or are changes of those. @param numbers placeholders of offsets */
function erasedEvents(event: string, numbers: string): string {
  return `SELECT slot, octet_length(text) AS bytes, '"type":"publication","channel":' || (body -> 'channel') ||
      ',"offset":' || (body -> 'offset') || ',"epoch":' || (body -> 'epoch') || ',"erased":true' AS left_body
    FROM (SELECT slot, body AS text, '{' || body || '}' AS body FROM ${event}
      WHERE type = 'publication' AND slot BETWEEN ? AND ?)
    WHERE body ->> 'offset' <= ? AND body ->> 'erased' IS NULL AND (body ->> 'offset' IN (${numbers})
      OR ${changedBy(changeTags.update)} IN (${numbers}) OR ${changedBy(changeTags.delete)} IN (${numbers})
      OR body ->> 'user' = ? OR body ->> '$.tags."${changeTags.by}"' = ?)`;
}

/**
 * The statements on tables with that prefix. `body` is the last column, because SQLite reads a row up to the last column
 * that a query needs.
 */
function statementsOf(prefix: string) {
  const [outbox, event] = [`${prefix}outbox`, `${prefix}event`];
  return {
    create: [
      `CREATE TABLE IF NOT EXISTS ${outbox} (id INTEGER PRIMARY KEY CHECK (id = 1), layout INTEGER NOT NULL,
      size INTEGER NOT NULL, first INTEGER NOT NULL, delivered INTEGER NOT NULL, failures INTEGER NOT NULL, retry INTEGER NOT NULL)`,
      `CREATE TABLE ${event} (${eventColumns})`,
    ],
    begin: `INSERT OR REPLACE INTO ${outbox} VALUES (1, 1, ?, ?, ?, 0, 0)`,
    clear: [`DROP TABLE ${event}`, `DROP TABLE IF EXISTS ${prefix}told`],
    upsert: `INSERT INTO ${event} VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (slot) DO UPDATE SET
    number = excluded.number, time = excluded.time, delivered = excluded.delivered, marks = excluded.marks,
    before = excluded.before, type = excluded.type, body = excluded.body`,
    /** The oldest event with at least so many bytes before it. */
    enough: `SELECT number, before FROM ${event} WHERE slot BETWEEN ? AND ? AND before >= ? ORDER BY slot LIMIT 1`,
    sizes: `SELECT number, time, octet_length(body) AS bytes FROM ${event}
    WHERE slot BETWEEN ? AND ? AND number BETWEEN ? AND ? ORDER BY slot`,
  };
}

/** A batch holds at most so many small events, or a handful of large ones. */
const measuredAtOnce = 256;
