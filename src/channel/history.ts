import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { Sql } from "../sql.ts";
import {
  type HistoryEntry,
  HistoryTable,
  loadStream,
  type OffsetRange,
  type StoredKey,
  type Stream,
} from "./history-table.ts";

export interface HistoryOptions {
  /** Publications kept; 0 switches history off. */
  readonly size: number;
  /** After this much silence the publications are gone; 0 switches history off. */
  readonly ttlMs: number;
  /** After this much silence the epoch and the top offset are gone too. */
  readonly metaTtlMs: number;
}

/** Which publications are wanted; offsets are exclusive in both directions. */
export interface HistoryRange {
  /** Absent: from the beginning, or from the end when reversed. */
  readonly sinceOffset?: number;
  /** At most so many. */
  readonly limit: number;
  readonly reverse: boolean;
}

export type HistoryRead =
  | { readonly outcome: "read"; readonly publications: Publication[] }
  /** Together they are more than the reader can take. */
  | { readonly outcome: "too-large" };

/**
 * A channel's stream: its epoch, its top offset and the newest publications (rules H1 to H8).
 * The publications lie in a ring of rows, slot = offset % size, so that one publication costs exactly one row written:
 * the row that comes in is the row that goes out. What must outlive a row (the oldest offset still visible, the newest
 * version) is written again in each row, so that the newest one tells everything. It is found by its key when an object wakes, so that neither that nor a publication costs more
 * the longer the history is.
 */
export class History {
  readonly #sql: Sql;
  readonly #options: HistoryOptions;
  readonly #newEpoch: () => string;
  /** Its ring has the configured size once {@link resize} was called. */
  readonly #table: HistoryTable;
  #stream: Stream | undefined;

  /**
   * Reads where a former instance left the stream, and changes nothing.
   *
   * @param newEpoch gives a fresh random epoch: letters, never "_", which SDKs take for "matches nothing"
   */
  constructor(sql: Sql, options: HistoryOptions, newEpoch: () => string) {
    this.#sql = sql;
    this.#options = options;
    this.#newEpoch = newEpoch;
    const stored = loadStream(sql);
    this.#stream = stored?.stream;
    this.#table = new HistoryTable(sql, stored?.size ?? options.size);
  }

  get enabled(): boolean {
    return this.#options.size > 0 && this.#options.ttlMs > 0;
  }

  /**
   * Brings what a former instance left to today's configuration (rules H7 and H8).
   *
   * @param release is told before which offset the rows are about to go, Infinity when all do; and the stream's epoch,
   *                undefined when the stream goes too
   */
  resize(release: (offset: number, epoch: string | undefined) => void): void {
    const stream = this.#stream;
    const { size } = this.#options;
    if (stream === undefined || (this.enabled && size === this.#table.size)) return;
    this.#sql.transaction(() => {
      if (!this.enabled) {
        release(Number.POSITIVE_INFINITY, undefined);
        this.forget();
        return;
      }
      release(stream.top - Math.min(size, this.#table.size) + 1, stream.epoch);
      this.#stream = this.#table.resize(stream, size);
    });
  }

  /** Where the stream stands; a channel without a stream gets one, with a new epoch, at offset 0. */
  position(nowMs: number): StreamPosition {
    const { epoch, top } = this.#open(nowMs);
    return { epoch, offset: top };
  }

  /** The newest version published so far; 0n when none was. */
  get version(): { readonly version: bigint; readonly versionEpoch: string } {
    return this.#stream ?? { version: 0n, versionEpoch: "" };
  }

  /** Puts a publication at the next offset. One row written. */
  append(entry: HistoryEntry, nowMs: number): StreamPosition {
    const stream = this.#open(nowMs);
    const floor = this.#expired(stream, nowMs) ? stream.top + 1 : stream.floor;
    const offset = stream.top + 1;
    const bringsVersion = entry.version > 0n;
    const next: Stream = {
      epoch: stream.epoch,
      top: offset,
      floor,
      timeMs: Math.max(stream.timeMs, nowMs),
      version: bringsVersion ? entry.version : stream.version,
      versionEpoch: bringsVersion ? entry.versionEpoch : stream.versionEpoch,
    };
    this.#table.append(entry, next);
    this.#stream = next;
    return { offset, epoch: stream.epoch };
  }

  /**
   * Reads publications, oldest first unless reversed.
   *
   * @param bytesMax how much they may be together, with their tags and infos: they are all in memory at once
   */
  read(range: HistoryRange, bytesMax: number, nowMs: number): HistoryRead {
    const offsets = this.#readable(this.#open(nowMs), range, nowMs);
    if (offsets === undefined) return { outcome: "read", publications: [] };
    if (this.#table.bytes(offsets) > bytesMax) return { outcome: "too-large" };
    return { outcome: "read", publications: this.#table.read(offsets, range.reverse) };
  }

  /**
   * Reads the oldest publications after an offset: as many as together take no more than that, and at least one.
   *
   * @param eachBytes what one takes besides what is stored of it
   */
  readPage(
    sinceOffset: number,
    bytesMax: number,
    eachBytes: number,
    nowMs: number,
  ): readonly Publication[] {
    const range = { sinceOffset, limit: Number.MAX_SAFE_INTEGER, reverse: false };
    const offsets = this.#readable(this.#open(nowMs), range, nowMs);
    if (offsets === undefined) return [];
    const last = this.#table.pageEnd(offsets, bytesMax, eachBytes);
    return this.#table.read({ first: offsets.first, last }, false);
  }

  /**
   * The oldest offset whose row is in the ring, shown or not: the one that the next publication overwrites once the ring
   * is full. Infinity when there is no stream.
   */
  get oldestRow(): number {
    return this.#stream === undefined
      ? Number.POSITIVE_INFINITY
      : this.#stream.top - this.#table.size + 1;
  }

  /** What the rows at these offsets, both included, say of their keys; oldest first, each row read once. */
  keys(first: number, last: number): readonly StoredKey[] {
    return first > last ? [] : this.#table.keys({ first, last });
  }

  /** The stream's epoch; undefined when there is no stream. Never makes one. */
  get epoch(): string | undefined {
    return this.#stream?.epoch;
  }

  /** Where the stream stands; undefined when there is no stream. Never makes one. */
  get top(): StreamPosition | undefined {
    const stream = this.#stream;
    return stream === undefined ? undefined : { epoch: stream.epoch, offset: stream.top };
  }

  /** When the newest publication came, or the stream was made or emptied, ms since 1970; undefined when there is none. */
  get newestMs(): number | undefined {
    return this.#stream?.timeMs;
  }

  /** The publication at the top, whether or not it can still be read by others; undefined when its row is gone. */
  get newest(): Publication | undefined {
    const top = this.#stream?.top ?? 0;
    return top === 0 ? undefined : this.#table.read({ first: top, last: top }, false)[0];
  }

  /** Whether the publication at this offset can still be read. */
  isReadable(offset: number, nowMs: number): boolean {
    const stream = this.#stream;
    if (stream === undefined || this.#expired(stream, nowMs)) return false;
    return offset >= this.#first(stream) && offset <= stream.top;
  }

  /** Deletes the publications; epoch, top offset and version stay (docs/protocol.md 2.1). */
  remove(nowMs: number): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = { ...stream, floor: stream.top + 1, timeMs: Math.max(stream.timeMs, nowMs) };
    this.#table.clear(this.#stream);
  }

  /** When the epoch and the top offset may go, ms since 1970; undefined when there is no stream. */
  get endsAtMs(): number | undefined {
    return this.#stream === undefined ? undefined : this.#stream.timeMs + this.#options.metaTtlMs;
  }

  /** Ends the stream: the next publication starts a new epoch. Only while nobody holds a position in it. */
  forget(): void {
    if (this.#stream === undefined) return;
    this.#table.drop();
    this.#stream = undefined;
  }

  #open(nowMs: number): Stream {
    if (this.#stream !== undefined) return this.#stream;
    const stream: Stream = {
      epoch: this.#newEpoch(),
      top: 0,
      floor: 1,
      timeMs: nowMs,
      version: 0n,
      versionEpoch: "",
    };
    this.#table.create(stream);
    this.#stream = stream;
    return stream;
  }

  /** All publications go together, a TTL after the newest one, as in Centrifugo's engines. */
  #expired(stream: Stream, nowMs: number): boolean {
    return nowMs >= stream.timeMs + this.#options.ttlMs;
  }

  #first(stream: Stream): number {
    return Math.max(stream.floor, stream.top - this.#table.size + 1);
  }

  #readable(stream: Stream, range: HistoryRange, nowMs: number): OffsetRange | undefined {
    if (range.limit <= 0 || this.#expired(stream, nowMs)) return undefined;
    let first = this.#first(stream);
    let last = stream.top;
    if (range.reverse) {
      last = Math.min(last, (range.sinceOffset ?? Number.POSITIVE_INFINITY) - 1);
      first = Math.max(first, last - range.limit + 1);
    } else {
      first = Math.max(first, (range.sinceOffset ?? 0) + 1);
      last = Math.min(last, first + range.limit - 1);
    }
    return first > last ? undefined : { first, last };
  }
}
