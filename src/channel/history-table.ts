import type { PublicationRequest } from "../contract/channel-call.ts";
import { changeTags } from "../protocol/change-tags.ts";
import {
  columnsOf,
  parseStoredTags,
  type PublicationColumns,
  readColumns,
} from "../protocol/publication-columns.ts";
import type { ClientInfo, Publication, Tags } from "../protocol/publication.ts";
import { columnText, type Sql, type SqlRow, type SqlValue } from "../sql.ts";
import type { SizedPublication } from "./recent-publications.ts";
import {
  freeRewritten,
  newestRow,
  rewriteRows,
  type ScannedRows,
  type ScannedSlice,
  scanRows,
  slotRuns,
} from "../ring.ts";
import { ringOf, type RingTable, type StoredTable } from "./stored-tables.ts";

/**
 * The two SQLite tables of a channel's history: `stream`, with one row, and `publication`, a ring of rows in which a
 * publication lies at slot offset % size. The changes of a map lie in `map_change` instead, whose rows have the keys,
 * too. This class owns all statements about them. `History` decides what may be read, what has expired, and when the
 * tables are made and deleted.
 */
export class HistoryTable {
  readonly #sql: Sql;
  readonly #ring: RingTable;
  readonly #tables: Statements;
  #size: number;

  /** @param size the size of the ring when its rows were written; for new tables, the configured size */
  constructor(sql: Sql, size: number, ring: RingTable) {
    this.#sql = sql;
    this.#size = size;
    this.#ring = ring;
    this.#tables = statementsOf(ring);
  }

  /** How many rows the ring has room for, whatever is configured. */
  get size(): number {
    return this.#size;
  }

  /** Makes both tables, on a channel that has none. */
  create(stream: Stream): void {
    for (const statement of this.#tables.create) this.#sql.run(statement);
    this.writeStream(stream);
  }

  /** Deletes both tables. */
  drop(): void {
    for (const statement of this.#tables.drop) this.#sql.run(statement);
  }

  /** Writes the newest publication into its slot: one row written. `stream` is the stream with that publication. */
  append(entry: HistoryEntry, stream: Stream): void {
    this.#sql.run(
      this.#tables.upsertPublication,
      ...insertValues(entry, stream, stream.top % this.#size, this.#ring),
    );
  }

  /** Gives the publication at an offset other contents, if the ring still has it: one row written. */
  amend(offset: number, contents: PublicationColumns): void {
    const slot = offset % this.#size;
    this.#sql.run(this.#tables.amend, ...columnsOf(contents), slot, offset);
  }

  /**
   * Overwrites the publication at an offset in its place, and then gives it other contents, if the ring still has it: two
   * rows written. SQLite would leave the bytes of a row that gets shorter where they were.
   */
  erase(offset: number, contents: PublicationColumns): void {
    const slot = offset % this.#size;
    const [row] = this.#sql.rows(this.#tables.lengths, slot, offset);
    if (row === undefined) return;
    const { kind, data, tags, info } = row;
    const blankData = kind === "blob" ? new Uint8Array(Number(data)) : blanks(data);
    this.#sql.run(this.#tables.amend, blanks(tags), blanks(info), blankData, slot, offset);
    this.amend(offset, contents);
  }

  /** Finds the rows of a slice that name a user, as publisher or as the one who changed a publication. */
  naming(user: string, slice: ScannedSlice): ScannedRows {
    return scanRows(this.#sql, this.#ring, this.#tables.naming, user, slice);
  }

  /** Finds the rows of a slice that are changes of a publication. */
  changesOf(offset: number, slice: ScannedSlice): ScannedRows {
    return scanRows(this.#sql, this.#ring, this.#tables.changesOf, String(offset), slice);
  }

  /** See {@link rewriteRows}; to be called in a transaction. */
  rewrite(rowsMax: number, bytesMax: number): void {
    const { createRing, total } = this.#tables;
    rewriteRows(this.#sql, { ring: this.#ring, createRing, total, rowsMax, bytesMax });
  }

  /** See {@link freeRewritten}. */
  rewritten(): void {
    freeRewritten(this.#sql);
  }

  /** Deletes all publications. `stream` is the stream without them, which may have another epoch. */
  clear(stream: Stream): void {
    this.#sql.run(`DELETE FROM ${this.#ring}`);
    this.writeStream(stream);
  }

  /**
   * Moves the newest publications to a ring of another size. SQLite copies them, so they need not fit in memory. Call
   * this in a transaction. It reads the whole ring and writes a row for each publication that is kept, once for each
   * change of the configuration (rule H7).
   *
   * @returns the stream after the move
   */
  resize(stream: Stream, size: number): Stream {
    // The smaller of the two rings drops rows for good: a larger ring must not count on those rows.
    const floor = Math.max(stream.floor, stream.top - Math.min(this.#size, size) + 1);
    const ring = this.#ring;
    const keyed = ring === "map_change" ? ", key, removed, score" : "";
    this.#sql.run(`ALTER TABLE ${ring} RENAME TO ${ring}_before`);
    this.#sql.run(this.#tables.createRing);
    this.#sql.run(
      `INSERT INTO ${ring} SELECT offset % ?, offset, time, ?, version, version_epoch, idempotency_key, delta,
        tags, info, data${keyed} FROM ${ring}_before WHERE offset > ?`,
      size,
      floor,
      stream.top - size,
    );
    this.#sql.run(`DROP TABLE ${ring}_before`);
    this.#sql.run("UPDATE stream SET size = ?", size);
    this.#size = size;
    return { ...stream, floor };
  }

  /** Reads the publications at these offsets. */
  read({ first, last }: OffsetRange, reverse: boolean): Publication[] {
    const query = reverse ? this.#tables.readNewestFirst : this.#tables.readOldestFirst;
    const runs = slotRuns(first, last, this.#size);
    return (reverse ? runs.toReversed() : runs).flatMap(({ low, high }) =>
      this.#sql.rows(query, low, high, first, last).map(decodeStoredPublication),
    );
  }

  /** Reads the publication at an offset, and when it came. */
  find(offset: number): StoredPublication | undefined {
    const only = { first: offset, last: offset };
    const [publication] = this.read(only, false);
    const [row] = this.keys(only);
    if (publication === undefined || row === undefined) return undefined;
    return { publication, timeMs: row.timeMs };
  }

  /** Reads the publications at these offsets, oldest first, with their sizes. */
  readSized({ first, last }: OffsetRange): SizedPublication[] {
    return slotRuns(first, last, this.#size).flatMap(({ low, high }) =>
      this.#sql.rows(this.#tables.readSized, low, high, first, last).map((row) => ({
        publication: decodeStoredPublication(row),
        bytes: Number(row["bytes"]),
      })),
    );
  }

  /** The bytes that the publications at these offsets take, with their tags and infos. Reads none of them. */
  bytes({ first, last }: OffsetRange): number {
    return slotRuns(first, last, this.#size).reduce((sum, { low, high }) => {
      const [measured] = this.#sql.rows(this.#tables.measure, low, high, first, last);
      return sum + Number(measured?.["bytes"] ?? 0);
    }, 0);
  }

  /**
   * The last offset of a page that begins at `first`. The publications of the page take at most `bytesMax` together,
   * but the page has at least one. The rows are measured in portions, because otherwise each page would read the sizes
   * of all rows after it.
   *
   * @param eachBytes the bytes that each publication takes besides its stored bytes
   */
  pageEnd({ first, last }: OffsetRange, bytesMax: number, eachBytes: number): number {
    let bytes = 0;
    for (let from = first; from <= last; from += measuredAtOnce) {
      const to = Math.min(last, from + measuredAtOnce - 1);
      for (const { low, high } of slotRuns(from, to, this.#size)) {
        for (const row of this.#sql.rows(this.#tables.sizes, low, high, from, to)) {
          const offset = Number(row["offset"]);
          bytes += Number(row["bytes"]) + eachBytes;
          if (bytes > bytesMax && offset > first) return offset - 1;
        }
      }
    }
    return last;
  }

  /** The idempotency keys of the rows at these offsets: oldest first, each row read once. */
  keys({ first, last }: OffsetRange): readonly StoredKey[] {
    return slotRuns(first, last, this.#size)
      .flatMap(({ low, high }) => this.#sql.rows(this.#tables.keys, low, high, first, last))
      .map((row) => ({
        offset: Number(row["offset"]),
        timeMs: Number(row["time"]),
        key: typeof row["idempotency_key"] === "string" ? row["idempotency_key"] : undefined,
      }));
  }

  /** Reads who published at these offsets, and with which tags, but not the bulky columns. */
  labels({ first, last }: OffsetRange): readonly PublicationLabels[] {
    return slotRuns(first, last, this.#size)
      .flatMap(({ low, high }) => this.#sql.rows(this.#tables.labels, low, high, first, last))
      .map((row) => ({
        offset: Number(row["offset"]),
        publisher: typeof row["publisher"] === "string" ? row["publisher"] : undefined,
        tags: typeof row["tags"] === "string" ? parseStoredTags(row["tags"]) : undefined,
      }));
  }

  /** Writes the row of the stream: one row written. */
  writeStream(stream: Stream): void {
    this.#sql.run(
      this.#tables.upsertStream,
      this.#size,
      stream.epoch,
      stream.top,
      stream.floor,
      stream.timeMs,
      stream.version.toString(),
      stream.versionEpoch,
    );
  }
}

/** Text of so many bytes; null for none. */
function blanks(bytes: SqlRow[string] | undefined): SqlValue {
  return typeof bytes === "number" ? " ".repeat(bytes) : null;
}

/** A page holds thousands of small publications, or a handful of large ones. */
const measuredAtOnce = 256;

/** A stream without its publications (docs/protocol.md 2.1). */
export interface Stream {
  readonly epoch: string;
  /** Offset of the newest publication; 0 before the first. */
  readonly top: number;
  /** The oldest offset that may be read; rows of older publications may still lie in the ring. */
  readonly floor: number;
  /**
   * When the newest publication came, or the stream was made or emptied, if that was later; for a stream without a
   * publication also when its last subscriber left. In ms since 1970.
   */
  readonly timeMs: number;
  /** The newest version published; 0n if there was none. */
  readonly version: bigint;
  readonly versionEpoch: string;
}

/** A publication to be stored: what was requested, and the info of the client that published it, if a client did. */
export interface HistoryEntry
  extends
    Omit<PublicationRequest, "skipHistory" | "ifOffset">,
    Pick<Publication, "key" | "removed" | "score" | "grown"> {
  readonly info?: ClientInfo;
}

/** Consecutive offsets, both ends included. */
export interface OffsetRange {
  readonly first: number;
  readonly last: number;
}

/** A publication of the ring. */
export interface StoredPublication {
  readonly publication: Publication;
  /** When the publication came, ms since 1970; never less than the time of an older publication. */
  readonly timeMs: number;
}

/** The idempotency key of a row of the ring. */
export interface StoredKey {
  readonly offset: number;
  /** When the publication came, ms since 1970; never less than the time of an older publication. */
  readonly timeMs: number;
  /** Undefined if the publication has no key. */
  readonly key: string | undefined;
}

/** A publication without its payload: who published it, and with which tags. */
export interface PublicationLabels {
  readonly offset: number;
  /** The user whose client published it; undefined for a backend. */
  readonly publisher: string | undefined;
  readonly tags: Tags | undefined;
}

/** A stream as a former instance stored it. */
export interface StoredStream {
  readonly stream: Stream;
  /** The size of the ring in which its publications lie, whatever is configured now. */
  readonly size: number;
}

/**
 * Reads the stream that a former instance stored. This reads the row of `stream` and the rows that
 * {@link newestRow} reads, however large the history is.
 *
 * @returns undefined if no stream is stored
 */
export function loadStream(sql: Sql, tables: ReadonlySet<StoredTable>): StoredStream | undefined {
  if (!tables.has("stream")) return undefined;
  const meta = sql.rows(
    "SELECT size, epoch, top AS offset, floor, time, version, version_epoch FROM stream",
  )[0];
  if (meta === undefined) return undefined;
  const size = Number(meta["size"]);
  // The row of `stream` is newer than the ring only if the ring was emptied.
  const ring = ringOf(tables.has("map_change") ? "map_change" : "publication");
  const source = newestRow(sql, ring, size) ?? meta;
  const stream: Stream = {
    epoch: columnText(meta, "epoch"),
    top: Number(source["offset"]),
    floor: Number(source["floor"]),
    timeMs: Number(source["time"]),
    version: BigInt(columnText(source, "version")),
    versionEpoch: columnText(source, "version_epoch"),
  };
  return { stream, size };
}

/** The rows of a history, wherever they are: in its tables or, for an ephemeral map, in memory. */
export type HistoryRows = Pick<HistoryTable, keyof HistoryTable>;

const rowBytes =
  "octet_length(data) + ifnull(octet_length(info), 0) + ifnull(octet_length(tags), 0) + 64";

const createStream = `CREATE TABLE stream (id INTEGER PRIMARY KEY CHECK (id = 1), layout INTEGER NOT NULL, size INTEGER NOT NULL,
  epoch TEXT NOT NULL, top INTEGER NOT NULL, floor INTEGER NOT NULL, time INTEGER NOT NULL,
  version TEXT NOT NULL, version_epoch TEXT NOT NULL)`;
const upsertStream = `INSERT INTO stream VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  size = excluded.size, epoch = excluded.epoch, top = excluded.top, floor = excluded.floor,
  time = excluded.time, version = excluded.version, version_epoch = excluded.version_epoch`;

/** The statements about the tables of a stream. They are put together when they are first needed. */
export function statementsOf(ring: RingTable): Statements {
  knownStatements[ring] ??= statements(ring);
  return knownStatements[ring];
}

const knownStatements: Partial<Record<RingTable, Statements>> = {};

type Statements = ReturnType<typeof statements>;

/** The bulky columns come last in a ring of publications, because a scan that needs none of them skips them. */
function statements(ring: RingTable) {
  const isKeyed = ring === "map_change";
  const between = `FROM ${ring} WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ?`;
  const read = `offset, tags, info, data${isKeyed ? ", delta, key, removed, score" : ""}`;
  const createRing = `CREATE TABLE ${ring} (
      slot INTEGER PRIMARY KEY, offset INTEGER NOT NULL, time INTEGER NOT NULL, floor INTEGER NOT NULL,
      version TEXT NOT NULL, version_epoch TEXT NOT NULL, idempotency_key TEXT, delta INTEGER NOT NULL,
      tags TEXT, info TEXT, data TEXT NOT NULL
      ${isKeyed ? ", key TEXT NOT NULL, removed INTEGER NOT NULL, score INTEGER NOT NULL" : ""})`;
  return {
    create: [createStream, createRing],
    createRing,
    upsertStream,
    drop: [`DROP TABLE IF EXISTS ${ring}`, "DROP TABLE IF EXISTS stream"],
    upsertPublication: `INSERT INTO ${ring} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?${isKeyed ? ", ?, ?, ?" : ""})
      ON CONFLICT (slot) DO UPDATE SET
      offset = excluded.offset, time = excluded.time, floor = excluded.floor, version = excluded.version,
      version_epoch = excluded.version_epoch, idempotency_key = excluded.idempotency_key,
      delta = excluded.delta, tags = excluded.tags, info = excluded.info, data = excluded.data
      ${isKeyed ? ", key = excluded.key, removed = excluded.removed, score = excluded.score" : ""}`,
    amend: `UPDATE ${ring} SET tags = ?, info = ?, data = ? WHERE slot = ? AND offset = ?`,
    lengths: `SELECT typeof(data) AS kind, octet_length(data) AS data, octet_length(tags) AS tags,
      octet_length(info) AS info FROM ${ring} WHERE slot = ? AND offset = ?`,
    naming: `SELECT slot, offset FROM ${ring} WHERE slot BETWEEN ? AND ?
      AND (info ->> 'user' = ? OR tags ->> '$."${changeTags.by}"' = ?) ORDER BY slot LIMIT ?`,
    changesOf: `SELECT slot, offset FROM ${ring} WHERE slot BETWEEN ? AND ?
      AND (tags ->> '$."${changeTags.update}"' = ? OR tags ->> '$."${changeTags.delete}"' = ?) ORDER BY slot LIMIT ?`,
    total: `SELECT count(*) AS rows, sum(bytes) AS bytes FROM (SELECT ${rowBytes} AS bytes FROM ${ring} LIMIT ?)`,
    readOldestFirst: `SELECT ${read} ${between} ORDER BY slot`,
    readNewestFirst: `SELECT ${read} ${between} ORDER BY slot DESC`,
    readSized: `SELECT ${read}, ${rowBytes} AS bytes ${between} ORDER BY slot`,
    /** The bytes of all rows together, without reading the bulky columns. */
    measure: `SELECT sum(${rowBytes}) AS bytes ${between}`,
    /** The bytes of each row. */
    sizes: `SELECT offset, ${rowBytes} AS bytes ${between} ORDER BY slot`,
    /** The keys of the rows, without reading the bulky columns. */
    keys: `SELECT offset, time, idempotency_key ${between} ORDER BY slot`,
    labels: `SELECT offset, tags, info ->> 'user' AS publisher ${between} ORDER BY slot`,
  } as const;
}

/** The values of one row of the ring, in the order of its columns. */
function insertValues(
  entry: HistoryEntry,
  stream: Stream,
  slot: number,
  ring: RingTable,
): readonly SqlValue[] {
  const values = [
    slot,
    stream.top,
    stream.timeMs,
    stream.floor,
    stream.version.toString(),
    stream.versionEpoch,
    entry.idempotencyKey === "" ? null : entry.idempotencyKey,
    deltaColumn(entry),
    ...columnsOf(entry),
  ];
  if (ring === "publication") return values;
  return [...values, entry.key ?? "", entry.removed === true ? 1 : 0, entry.score ?? 0];
}

/** 1: subscribers may get a delta. 2: the value of a key has grown, too. */
function deltaColumn({ delta, grown }: HistoryEntry): number {
  if (grown !== undefined) return 2;
  return delta ? 1 : 0;
}

/** Turns a row that was written from {@link insertValues} into the publication. */
function decodeStoredPublication(row: SqlRow): Publication {
  const { key, removed, score, delta } = row;
  return {
    ...readColumns(row),
    offset: Number(row["offset"]),
    ...(typeof key === "string" ? { key } : {}),
    ...(removed === 1 ? { removed: true } : {}),
    ...(typeof score === "number" && score !== 0 ? { score } : {}),
    ...(delta === 2 ? { grown: { pieces: 0 } } : {}),
  };
}
