import { limits } from "../limits.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { Sql } from "./sql.ts";
import { storedTables } from "./stored-tables.ts";

/** What the first publish with a key came to; no position for a publication without history. */
export interface FirstResult {
  readonly position?: StreamPosition;
}

interface RingKey {
  readonly offset: number;
  readonly timeMs: number;
}

interface SparedKey extends RingKey {
  readonly slot: number;
  readonly epoch: string;
}

/**
 * Remembers which idempotency keys were published (rules I1 to I4).
 * A key lives in its publication's own row and costs nothing more. Only a key younger than `limits.idempotencyMs` whose
 * row goes, or whose publication has none, is spared: it gets a row of its own, in a slot that an expired key left.
 */
export class Idempotency {
  readonly #sql: Sql;
  /** Keys whose publication is in the ring. */
  readonly #ring = new Map<string, RingKey>();
  readonly #ringKeyAt = new Map<number, string>();
  /** Keys with a row of their own, about oldest first. */
  readonly #spared = new Map<string, SparedKey>();
  readonly #freeSlots: number[] = [];
  #slots = 0;
  #newestSparedMs = 0;
  #tableExists = false;

  constructor(sql: Sql, nowMs: number) {
    this.#sql = sql;
    this.#load(nowMs);
  }

  /**
   * The first result of a publish with this key, while it is to be remembered.
   *
   * @param retained tells whether the publication at an offset can still be read
   */
  find(
    key: string,
    epoch: string,
    nowMs: number,
    retained: (offset: number) => boolean,
  ): FirstResult | undefined {
    const inRing = this.#ring.get(key);
    if (inRing !== undefined && (isYoung(inRing, nowMs) || retained(inRing.offset))) {
      return { position: { offset: inRing.offset, epoch } };
    }
    const spared = this.#spared.get(key);
    if (spared === undefined || !isYoung(spared, nowMs)) return undefined;
    return spared.offset === 0 ? {} : { position: { offset: spared.offset, epoch: spared.epoch } };
  }

  /** Whether one more key can get a row of its own. */
  hasRoom(nowMs: number): boolean {
    if (this.#spared.size < limits.idempotencyKeysMax) return true;
    const oldest = this.#spared.values().next().value;
    return oldest !== undefined && !isYoung(oldest, nowMs);
  }

  /** Whether the row at this offset holds a key that would have to be spared if the row went. */
  holdsYoungKey(offset: number, nowMs: number): boolean {
    const key = this.#ringKeyAt.get(offset);
    const entry = key === undefined ? undefined : this.#ring.get(key);
    return entry !== undefined && isYoung(entry, nowMs);
  }

  /** Notes a key that was written in the row at this offset. No row written. */
  noteInRing(key: string, offset: number, timeMs: number): void {
    this.#ring.set(key, { offset, timeMs });
    this.#ringKeyAt.set(offset, key);
  }

  /**
   * The row at this offset goes: spares its key if it is young.
   *
   * @param epoch the stream's epoch; undefined when the stream goes too, and with it the key's position
   */
  release(offset: number, epoch: string | undefined, nowMs: number): void {
    const key = this.#ringKeyAt.get(offset);
    if (key === undefined) return;
    this.#ringKeyAt.delete(offset);
    const entry = this.#ring.get(key);
    if (entry === undefined || entry.offset !== offset) return;
    this.#ring.delete(key);
    if (!isYoung(entry, nowMs)) return;
    const position = epoch === undefined ? { offset: 0, epoch: "" } : { offset, epoch };
    this.spare(key, position, entry.timeMs, nowMs);
  }

  /** All rows of the ring are about to be deleted. Keys beyond the room are the oldest, and dropped. */
  releaseAll(epoch: string, nowMs: number): void {
    for (const offset of [...this.#ringKeyAt.keys()].sort((left, right) => right - left)) {
      if (this.hasRoom(nowMs)) this.release(offset, epoch, nowMs);
    }
    this.#ring.clear();
    this.#ringKeyAt.clear();
  }

  /**
   * Rows may be gone since a former instance noted them: a smaller ring, or history switched off.
   *
   * @param oldestOffset the oldest row that is still there
   * @param epoch        as {@link release} takes it
   */
  releaseBelow(oldestOffset: number, epoch: string | undefined, nowMs: number): void {
    for (const offset of this.#ringKeyAt.keys()) {
      if (offset < oldestOffset && this.hasRoom(nowMs)) this.release(offset, epoch, nowMs);
    }
  }

  /** Gives a key a row of its own: one row written. Offset 0 for a publication without history. */
  spare(key: string, position: StreamPosition, timeMs: number, nowMs: number): void {
    this.#dropExpired(nowMs);
    if (!this.#tableExists) this.#sql.run(createTable);
    this.#tableExists = true;
    const before = this.#spared.get(key);
    const slot = before?.slot ?? this.#freeSlots.pop() ?? this.#slots++;
    this.#sql.run(upsert, slot, key, position.offset, position.epoch, timeMs);
    this.#spared.set(key, { slot, timeMs, ...position });
    this.#newestSparedMs = Math.max(this.#newestSparedMs, timeMs);
  }

  /** When the last spared key may go, ms since 1970; undefined when no row is held. */
  get endsAtMs(): number | undefined {
    return this.#tableExists ? this.#newestSparedMs + limits.idempotencyMs : undefined;
  }

  /** Deletes the spared keys' rows; call it only when all have expired. */
  forget(): void {
    this.#spared.clear();
    this.#freeSlots.length = 0;
    this.#slots = 0;
    if (this.#tableExists) this.#sql.run("DROP TABLE spared_key");
    this.#tableExists = false;
  }

  #dropExpired(nowMs: number): void {
    for (const [key, entry] of this.#spared) {
      if (isYoung(entry, nowMs)) return;
      this.#spared.delete(key);
      this.#freeSlots.push(entry.slot);
    }
  }

  #load(nowMs: number): void {
    const tables = storedTables(this.#sql);
    if (tables.has("publication")) {
      for (const row of this.#sql.rows(selectRingKeys)) {
        this.noteInRing(String(row["idempotency_key"]), Number(row["offset"]), Number(row["time"]));
      }
    }
    if (!tables.has("spared_key")) return;
    this.#tableExists = true;
    for (const row of this.#sql.rows(
      "SELECT slot, key, offset, epoch, time FROM spared_key ORDER BY time",
    )) {
      const entry: SparedKey = {
        slot: Number(row["slot"]),
        offset: Number(row["offset"]),
        epoch: String(row["epoch"]),
        timeMs: Number(row["time"]),
      };
      this.#slots = Math.max(this.#slots, entry.slot + 1);
      this.#newestSparedMs = Math.max(this.#newestSparedMs, entry.timeMs);
      if (isYoung(entry, nowMs)) this.#spared.set(String(row["key"]), entry);
      else this.#freeSlots.push(entry.slot);
    }
  }
}

const createTable = `CREATE TABLE spared_key (slot INTEGER PRIMARY KEY, key TEXT NOT NULL, offset INTEGER NOT NULL,
  epoch TEXT NOT NULL, time INTEGER NOT NULL)`;
const upsert = `INSERT INTO spared_key VALUES (?, ?, ?, ?, ?) ON CONFLICT (slot) DO UPDATE SET
  key = excluded.key, offset = excluded.offset, epoch = excluded.epoch, time = excluded.time`;
const selectRingKeys = `SELECT offset, time, idempotency_key FROM publication
  WHERE idempotency_key IS NOT NULL ORDER BY offset`;

function isYoung(entry: RingKey, nowMs: number): boolean {
  return entry.timeMs + limits.idempotencyMs > nowMs;
}
