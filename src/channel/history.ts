import type { ScannedRows, ScannedSlice } from "../ring.ts";
import { limits } from "../limits.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { PublicationColumns } from "../protocol/publication-columns.ts";
import type { Sql } from "../sql.ts";
import {
  type HistoryEntry,
  type HistoryRows,
  HistoryTable,
  loadStream,
  type OffsetRange,
  type PublicationLabels,
  type StoredKey,
  type StoredPublication,
  type Stream,
} from "./history-table.ts";
import { RecentPublications } from "./recent-publications.ts";
import { storedTables } from "./stored-tables.ts";
import { elapsed } from "../moment.ts";

/**
 * A channel's stream: its epoch, its top offset and its newest publications (rules H1 to H15, docs/protocol.md 2.1).
 * The publications are in a ring of rows, slot = offset % size. A publication costs exactly one row written, which
 * takes the place of the oldest one. Each row repeats what must outlive a row (the oldest offset that may be read, the
 * newest version). So the newest row holds the whole state of the stream. A waking object finds that row by its key, so
 * neither waking nor publishing costs more if the history is longer. {@link HistoryTable} owns the rows, and `Channel`
 * decides when the stream may be deleted.
 */
export class History {
  readonly #sql: Sql;
  readonly #options: HistoryOptions;
  readonly #newEpoch: () => string;
  /** Its ring has the configured size once {@link resize} has been called. */
  readonly #table: HistoryRows;
  readonly #recent = new RecentPublications();
  #stream: Stream | undefined;

  /**
   * Reads the stream that a former instance stored, and changes nothing.
   *
   * @param newEpoch gives a fresh random epoch: letters, never "_", which SDKs take for "matches nothing"
   * @param tables   those that exist
   * @param memory   where the publications are, if they aren't stored, and the stream before them
   */
  constructor(
    sql: Sql,
    options: HistoryOptions,
    newEpoch: () => string,
    tables = storedTables(sql),
    memory?: { readonly rows: HistoryRows; readonly stream?: Stream },
  ) {
    this.#sql = sql;
    this.#options = options;
    this.#newEpoch = newEpoch;
    const stored = memory === undefined ? loadStream(sql, tables) : undefined;
    this.#stream = memory?.stream ?? stored?.stream;
    const ring = options.isKeyed === true ? "map_change" : "publication";
    this.#table = memory?.rows ?? new HistoryTable(sql, stored?.size ?? options.size, ring);
  }

  get enabled(): boolean {
    return this.#options.size > 0 && this.#options.ttlMs > 0;
  }

  /**
   * Adapts the stored stream to the configuration (rules H7 and H8).
   *
   * @param release called before rows are deleted, with the oldest offset that stays (Infinity if none does) and the
   *                epoch of the stream (undefined if the stream is deleted, too)
   */
  resize(release: (offset: number, epoch: string | undefined) => void): void {
    const stream = this.#stream;
    const { size } = this.#options;
    if (stream === undefined || (this.enabled && size === this.#table.size)) return;
    this.#recent.clear();
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

  /** The top of the stream. A channel without a stream gets one, with a new epoch, at offset 0. */
  position(nowMs: number): StreamPosition {
    const { epoch, top } = this.#open(nowMs);
    return { epoch, offset: top };
  }

  /** The newest version published so far; 0n if there was none. */
  get version(): { readonly version: bigint; readonly versionEpoch: string } {
    return this.#stream ?? { version: 0n, versionEpoch: "" };
  }

  /** Stores a publication at the next offset: one row written (rule H1). */
  append(entry: HistoryEntry, nowMs: number): StreamPosition {
    const stream = this.#open(nowMs);
    const expired = this.#expired(stream, nowMs);
    const floor = expired ? stream.top + 1 : stream.floor;
    const offset = stream.top + 1;
    const bringsVersion = entry.version > 0n;
    const next: Stream = {
      epoch: stream.epoch,
      top: offset,
      floor,
      timeMs: expired ? nowMs : Math.max(stream.timeMs, nowMs),
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
   * @param bytesMax the largest size of all of them together, with their tags and infos: they are in memory at once
   */
  read(range: HistoryRange, bytesMax: number, nowMs: number): HistoryRead {
    const stream = this.#open(nowMs);
    const offsets = this.#readable(stream, range, nowMs);
    if (offsets === undefined) return { outcome: "read", publications: [] };
    if (!range.reverse && offsets.last === stream.top) return this.#readNewest(offsets, bytesMax);
    if (this.#table.bytes(offsets) > bytesMax) return { outcome: "too-large" };
    return { outcome: "read", publications: this.#table.read(offsets, range.reverse) };
  }

  /** Reads publications up to the top, and only those rows that no client has read lately. */
  #readNewest({ first, last }: OffsetRange, bytesMax: number): HistoryRead {
    const { until, bytes } = this.#recent.covers(first, last);
    const unread = { first: until, last };
    const hasFew = until > last - limits.unmeasuredRowsMax;
    if (!hasFew && bytes + this.#table.bytes(unread) > bytesMax) return { outcome: "too-large" };
    if (until > last)
      return bytes > bytesMax
        ? { outcome: "too-large" }
        : { outcome: "read", publications: this.#recent.readAll(first, last) };
    const publications = this.#recent.read(first, last);
    let allBytes = bytes;
    const read = this.#table.readSized(unread);
    for (const row of read) {
      publications.push(row.publication);
      allBytes += row.bytes;
    }
    this.#recent.keep(read);
    return allBytes > bytesMax ? { outcome: "too-large" } : { outcome: "read", publications };
  }

  /**
   * Reads the oldest publications after an offset: as many as together take no more than `bytesMax`, and at least one.
   *
   * @param eachBytes the bytes that each publication takes besides its stored bytes
   * @param limit     at most so many publications
   */
  readPage(
    sinceOffset: number,
    bytesMax: number,
    eachBytes: number,
    nowMs: number,
    limit: number = Number.MAX_SAFE_INTEGER,
  ): readonly Publication[] {
    const range = { sinceOffset, limit, reverse: false };
    const offsets = this.#readable(this.#open(nowMs), range, nowMs);
    if (offsets === undefined) return [];
    const last = this.#table.pageEnd(offsets, bytesMax, eachBytes);
    return this.#table.read({ first: offsets.first, last }, false);
  }

  /**
   * The oldest offset whose row is in the ring, whether or not it may be read. Once the ring is full, the next
   * publication overwrites this row. Infinity without a stream.
   */
  get oldestRow(): number {
    return this.#stream === undefined
      ? Number.POSITIVE_INFINITY
      : this.#stream.top - this.#table.size + 1;
  }

  /** The idempotency keys of the rows at these offsets, both included: oldest first, each row read once. */
  keys(first: number, last: number): readonly StoredKey[] {
    return first > last ? [] : this.#table.keys({ first, last });
  }

  /** When the publication at an offset came, ms since 1970; undefined if it isn't kept. Whether it has expired doesn't matter. */
  timeOf(offset: number): number | undefined {
    return this.#stream === undefined ? undefined : this.keys(offset, offset)[0]?.timeMs;
  }

  /** Reads who published at these offsets, both included, and with which tags: oldest first. */
  labels(first: number, last: number): readonly PublicationLabels[] {
    return first > last ? [] : this.#table.labels({ first, last });
  }

  /** Gives the publication at an offset other contents, if its row is in the ring: one row written. */
  amend(offset: number, contents: PublicationColumns): void {
    this.#recent.clear();
    this.#table.amend(offset, contents);
  }

  /** The publication at an offset, whether or not it can be read; undefined if its row isn't in the ring. */
  kept(offset: number): StoredPublication | undefined {
    return this.#stream === undefined ? undefined : this.#table.find(offset);
  }

  /** The rows of a slice that name a user, whether or not they can be read. */
  naming(user: string, slice: ScannedSlice): ScannedRows {
    return this.#stream === undefined ? { offsets: [] } : this.#table.naming(user, slice);
  }

  /** The rows of a slice that are changes of a publication, which needn't be kept. */
  changesOf(offset: number, slice: ScannedSlice): ScannedRows {
    return this.#stream === undefined ? { offsets: [] } : this.#table.changesOf(offset, slice);
  }

  /** As {@link amend}, and overwrites what was there: two rows written. */
  erase(offset: number, contents: PublicationColumns): void {
    this.#recent.clear();
    this.#table.erase(offset, contents);
  }

  /** Overwrites the copies of rows that SQLite has left elsewhere, unless the rows are too many or too large. */
  rewrite(rowsMax: number, bytesMax: number): void {
    if (this.#stream === undefined) return;
    this.#sql.transaction(() => this.#table.rewrite(rowsMax, bytesMax));
  }

  /** To be called once what {@link rewrite} has written is committed. */
  rewritten(): void {
    this.#table.rewritten();
  }

  /** The epoch of the stream; undefined without a stream. Never makes a stream. */
  get epoch(): string | undefined {
    return this.#stream?.epoch;
  }

  /** The top of the stream; undefined without a stream. Never makes a stream. */
  get top(): StreamPosition | undefined {
    const stream = this.#stream;
    return stream === undefined ? undefined : { epoch: stream.epoch, offset: stream.top };
  }

  /**
   * When the newest publication came, or the stream was made or emptied, or an unused stream was {@link left}, ms since
   * 1970; undefined without a stream.
   */
  get newestMs(): number | undefined {
    return this.#stream?.timeMs;
  }

  /** The publication at the top, whether or not it may still be read; undefined if its row was deleted. */
  get newest(): Publication | undefined {
    const top = this.#stream?.top ?? 0;
    return top === 0 ? undefined : this.#table.read({ first: top, last: top }, false)[0];
  }

  /** The offsets of the publications that can be read; undefined if none can. Never makes a stream. */
  readable(nowMs: number): OffsetRange | undefined {
    const stream = this.#stream;
    if (stream === undefined) return undefined;
    return this.#readable(stream, { limit: stream.top, reverse: false }, nowMs);
  }

  /** The publication at an offset, if it can be read, and when it came. Never makes a stream. */
  find(offset: number, nowMs: number): StoredPublication | undefined {
    return this.isReadable(offset, nowMs) ? this.#table.find(offset) : undefined;
  }

  /** Whether the publication at this offset can still be read. */
  isReadable(offset: number, nowMs: number): boolean {
    const stream = this.#stream;
    if (stream === undefined || this.#expired(stream, nowMs)) return false;
    return offset >= this.#first(stream) && offset <= stream.top;
  }

  /** Deletes the publications. The epoch, the top offset and the version stay (rules H5 and H10). */
  remove(nowMs: number): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#recent.clear();
    // As after a publication, also if the clock was set back since (rule S5).
    const timeMs = Math.max(stream.timeMs, nowMs);
    this.#stream = { ...stream, floor: stream.top + 1, timeMs };
    this.#table.clear(this.#stream);
  }

  /**
   * Deletes the publications and gives the stream another epoch. The top stays, so that offsets go on to grow: nobody can
   * recover from before (rule Z41).
   */
  renew(nowMs: number): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#recent.clear();
    this.#stream = { ...stream, epoch: this.#newEpoch(), floor: stream.top + 1, timeMs: nowMs };
    this.#table.clear(this.#stream);
  }

  /** When the epoch and the top offset may be deleted, ms since 1970 (rules H6 and H12); undefined without a stream. */
  get endsAtMs(): number | undefined {
    return this.#stream === undefined ? undefined : this.#stream.timeMs + this.#keptMs;
  }

  get #keptMs(): number {
    const { metaTtlMs } = this.#options;
    return this.unused ? Math.min(metaTtlMs, limits.unusedStreamMs) : metaTtlMs;
  }

  /**
   * Counts the time of a stream from now on if it began at a time that is too far ahead, because the clock was set back since:
   * one row written. Publications that had expired stay expired (rule S5).
   */
  checkClock(nowMs: number): void {
    const stream = this.#stream;
    if (stream === undefined || stream.timeMs - nowMs <= this.#keptMs) return;
    const floor = this.#expired(stream, nowMs) ? stream.top + 1 : stream.floor;
    this.#stream = { ...stream, floor, timeMs: nowMs };
    this.#table.writeStream(this.#stream);
  }

  /** Whether nothing was ever published with history: no stream, or one that subscribers alone made. */
  get unused(): boolean {
    return this.#stream === undefined || this.#stream.top === 0;
  }

  /**
   * Notes that the last subscriber has left. An unused stream is kept for `limits.unusedStreamMs` from then on, for
   * clients that come back (rule H12). This costs a row, so it isn't noted again within `limits.unusedNoteMs`.
   */
  left(nowMs: number): void {
    const stream = this.#stream;
    if (stream === undefined || !this.unused) return;
    if (this.#options.metaTtlMs <= limits.unusedStreamMs) return;
    if (!elapsed(stream.timeMs, limits.unusedNoteMs, nowMs)) return;
    this.#stream = { ...stream, timeMs: nowMs };
    this.#table.writeStream(this.#stream);
  }

  /**
   * Deletes the stream: the next publication starts a new epoch. Call this only while no subscriber holds a position in
   * it.
   */
  forget(): void {
    if (this.#stream === undefined) return;
    this.#recent.clear();
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

  /** All publications expire together, `ttlMs` after the newest one (rule H4), as in Centrifugo's engines. */
  #expired(stream: Stream, nowMs: number): boolean {
    return elapsed(stream.timeMs, this.#options.ttlMs, nowMs);
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

/** The namespace's options for the history of a channel. */
export interface HistoryOptions {
  /** The number of publications that are kept; 0 switches the history off. */
  readonly size: number;
  /** How long after the newest publication all publications expire, ms (rule H4); 0 switches the history off. */
  readonly ttlMs: number;
  /** How long after the newest publication the epoch and the top offset may be deleted, too, ms (rule H6). */
  readonly metaTtlMs: number;
  /** Whether the publications are the changes of a map, with their keys; absent: they aren't. */
  readonly isKeyed?: boolean;
}

/** A request for publications. `sinceOffset` is exclusive in both directions (rule H2). */
export interface HistoryRange {
  /** Absent: from the oldest publication on, or from the newest one if reversed. */
  readonly sinceOffset?: number;
  /** The largest number of publications to read. */
  readonly limit: number;
  readonly reverse: boolean;
}

/** The outcome of {@link History.read}. */
export type HistoryRead =
  | { readonly outcome: "read"; readonly publications: readonly Publication[] }
  /** The publications together are larger than the reader can take. */
  | { readonly outcome: "too-large" };

/** The outcome of reading a channel's history; `position` is the top. */
export type HistoryOutcome =
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | { readonly outcome: "not-available" }
  | { readonly outcome: "unrecoverable-position" }
  | { readonly outcome: "too-large" };
