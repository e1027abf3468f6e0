import { limits } from "../limits.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { History } from "./history.ts";
import type { StoredKey } from "./history-table.ts";
import { columnText, type Sql } from "../sql.ts";
import type { StoredTable } from "./stored-tables.ts";

/**
 * Remembers which idempotency keys were published (rules I1 to I4). A key is stored in the row of its publication and
 * costs nothing more. If that row is deleted or overwritten, or if the publication has no row, a key younger than
 * `limits.idempotencyMs` is retained. A retained key has a row of its own in the table `spared_key`, in a slot that an
 * expired key left.
 *
 * A waking object reads no key of the ring, because most objects wake for something else. It reads each row later, and
 * once:
 * - The row that a publication overwrites, if its key may be young. No such row is read later than 5 minutes after the
 *   newest publication from before hibernation.
 * - The other unread rows, from the newest on, if a key isn't known. Without an index, only these rows show whether the
 *   key is new. So the first new key after hibernation reads the publications that can be read or are young.
 */
export class Idempotency {
  readonly #sql: Sql;
  readonly #history: Pick<History, "keys">;
  /** Keys whose publication is in the ring, of the rows that were read or written since the object woke. */
  readonly #ring = new Map<string, RingKey>();
  readonly #ringKeyAt = new Map<number, string>();
  readonly #unread: UnreadRows;
  /** Keys with rows of their own, roughly oldest first. */
  readonly #retained = new Map<string, RetainedKey>();
  readonly #freeSlots: number[] = [];
  #slots = 0;
  #newestRetainedMs = 0;
  #tableExists = false;

  /** @param tables those that exist */
  constructor(
    sql: Sql,
    history: Pick<History, "keys" | "oldestRow" | "top" | "newestMs">,
    nowMs: number,
    tables: ReadonlySet<StoredTable>,
  ) {
    this.#sql = sql;
    this.#history = history;
    this.#unread = {
      first: Math.max(1, history.oldestRow),
      last: history.top?.offset ?? 0,
      newestMs: history.newestMs ?? 0,
    };
    if (tables.has("spared_key")) this.#loadRetained(nowMs);
  }

  /**
   * Finds the first result of a publish with this key, as long as it must be remembered.
   *
   * @param epoch      the stream's epoch; "" without a stream
   * @param isReadable whether the publication at an offset can still be read
   * @returns undefined if the key is new
   */
  firstResult(
    key: string,
    epoch: string,
    nowMs: number,
    isReadable: (offset: number) => boolean,
  ): FirstResult | undefined {
    const retained = this.#retained.get(key);
    if (retained !== undefined && isYoung(retained, nowMs)) {
      return retained.offset === 0
        ? {}
        : { position: { offset: retained.offset, epoch: retained.epoch } };
    }
    for (;;) {
      const inRing = this.#ring.get(key);
      if (inRing !== undefined && (isYoung(inRing, nowMs) || isReadable(inRing.offset))) {
        return { position: { offset: inRing.offset, epoch } };
      }
      if (!this.#unreadMayBeYoung(nowMs) && !this.#unreadIsReadable(isReadable)) return undefined;
      this.#readNewest();
    }
  }

  /** Whether one more key, or so many, can get rows of their own (rule I4). */
  hasRoom(nowMs: number, keys = 1): boolean {
    let room = limits.idempotencyKeysMax - this.#retained.size;
    if (room >= keys) return true;
    for (const retained of this.#retained.values()) {
      if (isYoung(retained, nowMs)) return false;
      if (++room >= keys) return true;
    }
    return false;
  }

  /** Whether the row at this offset holds a key that must be retained if the row is overwritten. */
  holdsYoungKey(offset: number, nowMs: number): boolean {
    this.#readFor(offset, nowMs);
    const key = this.#ringKeyAt.get(offset);
    const entry = key === undefined ? undefined : this.#ring.get(key);
    return entry !== undefined && isYoung(entry, nowMs);
  }

  /** Remembers a key that was written in the row at this offset, and writes no row. */
  addRingKey(key: string, offset: number, timeMs: number): void {
    this.#ring.set(key, { offset, timeMs });
    this.#ringKeyAt.set(offset, key);
  }

  /**
   * The row at this offset is about to be overwritten or deleted: retains its key if that is young.
   *
   * @param epoch the stream's epoch; undefined if the stream is deleted, too, and with it the position of the key
   */
  release(offset: number, epoch: string | undefined, nowMs: number): void {
    this.#readFor(offset, nowMs);
    this.#unread.first = Math.max(this.#unread.first, offset + 1);
    const dropped = this.#drop(offset);
    if (dropped === undefined || !isYoung(dropped, nowMs)) return;
    const position = epoch === undefined ? { offset: 0, epoch: "" } : { offset, epoch };
    this.retain(dropped.key, position, dropped.timeMs, nowMs);
  }

  /**
   * The rows before this offset are about to be deleted: retains their young keys. If there is no room for all of them,
   * the oldest keys are dropped (rule I4).
   *
   * @param offset the oldest row that stays; Infinity if none does
   * @param epoch  as {@link release} takes it
   */
  releaseBelow(offset: number, epoch: string | undefined, nowMs: number): void {
    while (this.#unreadMayBeYoung(nowMs)) this.#readNewest();
    this.#unread.first = Math.max(this.#unread.first, offset);
    const going = [...this.#ringKeyAt.keys()].filter((each) => each < offset);
    for (const each of going.sort((left, right) => right - left)) {
      if (this.hasRoom(nowMs)) this.release(each, epoch, nowMs);
      else this.#drop(each);
    }
  }

  /** Gives a key a row of its own: one row written. The offset is 0 for a publication without history. */
  retain(key: string, position: StreamPosition, timeMs: number, nowMs: number): void {
    this.#dropExpired(nowMs);
    if (!this.#tableExists) this.#sql.run(createTable);
    this.#tableExists = true;
    const before = this.#retained.get(key);
    const slot = before?.slot ?? this.#freeSlots.pop() ?? this.#slots++;
    this.#sql.run(upsert, slot, key, position.offset, position.epoch, timeMs);
    this.#retained.set(key, { slot, timeMs, ...position });
    this.#newestRetainedMs = Math.max(this.#newestRetainedMs, timeMs);
  }

  /** When the last retained key expires, ms since 1970; undefined if no rows are kept. */
  get endsAtMs(): number | undefined {
    return this.#tableExists ? this.#newestRetainedMs + limits.idempotencyMs : undefined;
  }

  /** Deletes the rows of the retained keys. Call this only when all of these keys have expired. */
  forget(): void {
    this.#retained.clear();
    this.#freeSlots.length = 0;
    this.#slots = 0;
    if (this.#tableExists) this.#sql.run("DROP TABLE spared_key");
    this.#tableExists = false;
  }

  #dropExpired(nowMs: number): void {
    for (const [key, entry] of this.#retained) {
      if (isYoung(entry, nowMs)) return;
      this.#retained.delete(key);
      this.#freeSlots.push(entry.slot);
    }
  }

  /**
   * Removes the key of a row from memory.
   *
   * @returns undefined if the row has no key, or if the same key was published again since
   */
  #drop(offset: number): { readonly key: string; readonly timeMs: number } | undefined {
    const key = this.#ringKeyAt.get(offset);
    if (key === undefined) return undefined;
    this.#ringKeyAt.delete(offset);
    const entry = this.#ring.get(key);
    if (entry === undefined || entry.offset !== offset) return undefined;
    this.#ring.delete(key);
    return { key, timeMs: entry.timeMs };
  }

  #unreadMayBeYoung(nowMs: number): boolean {
    const { first, last, newestMs } = this.#unread;
    return first <= last && isYoung({ timeMs: newestMs }, nowMs);
  }

  #unreadIsReadable(isReadable: (offset: number) => boolean): boolean {
    const { first, last } = this.#unread;
    return first <= last && isReadable(last);
  }

  /**
   * Makes sure that the row at this offset is read, unless its key can't be young. The ring overwrites the oldest row
   * first.
   */
  #readFor(offset: number, nowMs: number): void {
    while (this.#unread.first <= offset && this.#unreadMayBeYoung(nowMs)) {
      const { first, last } = this.#unread;
      this.#unread.first = Math.min(last, first + rowsAtOnce - 1) + 1;
      this.#addKeys(this.#history.keys(first, this.#unread.first - 1));
    }
  }

  #readNewest(): void {
    const { first, last } = this.#unread;
    this.#unread.last = Math.max(first, last - rowsAtOnce + 1) - 1;
    const rows = this.#history.keys(this.#unread.last + 1, last);
    this.#addKeys(rows);
    this.#unread.newestMs = rows[0]?.timeMs ?? this.#unread.newestMs;
  }

  /** If several rows have the same key, the newest row counts, whichever is read first. */
  #addKeys(rows: readonly StoredKey[]): void {
    for (const { key, offset, timeMs } of rows) {
      if (key === undefined) continue;
      const known = this.#ring.get(key);
      if (known === undefined || known.offset < offset) this.addRingKey(key, offset, timeMs);
    }
  }

  #loadRetained(nowMs: number): void {
    this.#tableExists = true;
    for (const row of this.#sql.rows(
      "SELECT slot, key, offset, epoch, time FROM spared_key ORDER BY time",
    )) {
      const entry: RetainedKey = {
        slot: Number(row["slot"]),
        offset: Number(row["offset"]),
        epoch: columnText(row, "epoch"),
        timeMs: Number(row["time"]),
      };
      this.#slots = Math.max(this.#slots, entry.slot + 1);
      this.#newestRetainedMs = Math.max(this.#newestRetainedMs, entry.timeMs);
      if (isYoung(entry, nowMs)) this.#retained.set(columnText(row, "key"), entry);
      else this.#freeSlots.push(entry.slot);
    }
  }
}

/** The result of the first publish with a key; without a position if the publication went without history. */
export interface FirstResult {
  readonly position?: StreamPosition;
}

interface RingKey {
  readonly offset: number;
  readonly timeMs: number;
}

/** A key with a row of its own. */
interface RetainedKey extends RingKey {
  readonly slot: number;
  readonly epoch: string;
}

/**
 * Rows of the ring that a former instance wrote and this one hasn't read: those at the offsets from `first` to `last`.
 */
interface UnreadRows {
  first: number;
  last: number;
  /** None of these rows is newer than this, ms since 1970. */
  newestMs: number;
}

const createTable = `CREATE TABLE spared_key (slot INTEGER PRIMARY KEY, key TEXT NOT NULL, offset INTEGER NOT NULL,
  epoch TEXT NOT NULL, time INTEGER NOT NULL)`;
const upsert = `INSERT INTO spared_key VALUES (?, ?, ?, ?, ?) ON CONFLICT (slot) DO UPDATE SET
  key = excluded.key, offset = excluded.offset, epoch = excluded.epoch, time = excluded.time`;

/** Few enough that these rows take little memory, and many enough that a query costs little beside its rows. */
const rowsAtOnce = 512;

function isYoung({ timeMs }: Pick<RingKey, "timeMs">, nowMs: number): boolean {
  return timeMs + limits.idempotencyMs > nowMs;
}
