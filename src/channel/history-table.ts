import type { PublicationRequest } from "../contract/channel-call.ts";
import { encodeClientInfo } from "../protocol/json/encode.ts";
import { memberText, trustedJsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication, Tags } from "../protocol/publication.ts";
import { columnText, type Sql, type SqlRow, type SqlValue } from "../sql.ts";
import type { SizedPublication } from "./recent-publications.ts";
import { newestRow, slotRuns } from "../ring.ts";
import { publicationRing, type StoredTable } from "./stored-tables.ts";

/**
 * The two SQLite tables of a channel's history: `stream`, with one row, and `publication`, a ring of rows in which a
 * publication lies at slot offset % size. This class owns all statements about them. `History` decides what may be
 * read, what has expired, and when the tables are made and deleted.
 */
export class HistoryTable {
  readonly #sql: Sql;
  #size: number;

  /** @param size the size of the ring when its rows were written; for new tables, the configured size */
  constructor(sql: Sql, size: number) {
    this.#sql = sql;
    this.#size = size;
  }

  /** How many rows the ring has room for, whatever is configured. */
  get size(): number {
    return this.#size;
  }

  /** Makes both tables, on a channel that has none. */
  create(stream: Stream): void {
    for (const statement of tables.create) this.#sql.run(statement);
    this.writeStream(stream);
  }

  /** Deletes both tables. */
  drop(): void {
    for (const statement of tables.drop) this.#sql.run(statement);
  }

  /** Writes the newest publication into its slot: one row written. `stream` is the stream with that publication. */
  append(entry: HistoryEntry, stream: Stream): void {
    this.#sql.run(
      tables.upsertPublication,
      ...insertValues(entry, stream, stream.top % this.#size),
    );
  }

  /** Deletes all publications. `stream` is the stream without them. */
  clear(stream: Stream): void {
    this.#sql.run("DELETE FROM publication");
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
    this.#sql.run("ALTER TABLE publication RENAME TO publication_before");
    this.#sql.run(`CREATE TABLE publication (${publicationColumns})`);
    this.#sql.run(
      `INSERT INTO publication SELECT offset % ?, offset, time, ?, version, version_epoch, idempotency_key, delta,
        tags, info, data FROM publication_before WHERE offset > ?`,
      size,
      floor,
      stream.top - size,
    );
    this.#sql.run("DROP TABLE publication_before");
    this.#sql.run("UPDATE stream SET size = ?", size);
    this.#size = size;
    return { ...stream, floor };
  }

  /** Reads the publications at these offsets. */
  read({ first, last }: OffsetRange, reverse: boolean): Publication[] {
    const query = reverse ? tables.readNewestFirst : tables.readOldestFirst;
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
      this.#sql.rows(tables.readSized, low, high, first, last).map((row) => ({
        publication: decodeStoredPublication(row),
        bytes: Number(row["bytes"]),
      })),
    );
  }

  /** The bytes that the publications at these offsets take, with their tags and infos. Reads none of them. */
  bytes({ first, last }: OffsetRange): number {
    return slotRuns(first, last, this.#size).reduce((sum, { low, high }) => {
      const [measured] = this.#sql.rows(tables.measure, low, high, first, last);
      return sum + Number(measured?.["bytes"] ?? 0);
    }, 0);
  }

  /**
   * The last offset of a page that begins at `first`: it has as many publications as together take no more than
   * `bytesMax`, and at least one. The rows are measured in portions, or each page would cost a look at all rows after
   * it.
   *
   * @param eachBytes the bytes that each publication takes besides its stored bytes
   */
  pageEnd({ first, last }: OffsetRange, bytesMax: number, eachBytes: number): number {
    let bytes = 0;
    for (let from = first; from <= last; from += measuredAtOnce) {
      const to = Math.min(last, from + measuredAtOnce - 1);
      for (const { low, high } of slotRuns(from, to, this.#size)) {
        for (const row of this.#sql.rows(tables.sizes, low, high, from, to)) {
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
      .flatMap(({ low, high }) => this.#sql.rows(tables.keys, low, high, first, last))
      .map((row) => ({
        offset: Number(row["offset"]),
        timeMs: Number(row["time"]),
        key: typeof row["idempotency_key"] === "string" ? row["idempotency_key"] : undefined,
      }));
  }

  /** Writes the row of the stream: one row written. */
  writeStream(stream: Stream): void {
    this.#sql.run(
      tables.upsertStream,
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
export interface HistoryEntry extends Omit<PublicationRequest, "skipHistory"> {
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
  const source = newestRow(sql, publicationRing, size) ?? meta;
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

const publicationColumns = `
  slot INTEGER PRIMARY KEY, offset INTEGER NOT NULL, time INTEGER NOT NULL, floor INTEGER NOT NULL,
  version TEXT NOT NULL, version_epoch TEXT NOT NULL, idempotency_key TEXT, delta INTEGER NOT NULL,
  tags TEXT, info TEXT, data TEXT NOT NULL`;

const rowBytes =
  "octet_length(data) + ifnull(octet_length(info), 0) + ifnull(octet_length(tags), 0) + 64";

/**
 * The statements about the two tables. The bulky columns come last, because a scan that needs none of them skips them.
 */
export const tables = {
  create: [
    `CREATE TABLE stream (id INTEGER PRIMARY KEY CHECK (id = 1), layout INTEGER NOT NULL, size INTEGER NOT NULL,
      epoch TEXT NOT NULL, top INTEGER NOT NULL, floor INTEGER NOT NULL, time INTEGER NOT NULL,
      version TEXT NOT NULL, version_epoch TEXT NOT NULL)`,
    `CREATE TABLE publication (${publicationColumns})`,
  ],
  drop: ["DROP TABLE IF EXISTS publication", "DROP TABLE IF EXISTS stream"],
  upsertStream: `INSERT INTO stream VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    size = excluded.size, epoch = excluded.epoch, top = excluded.top, floor = excluded.floor,
    time = excluded.time, version = excluded.version, version_epoch = excluded.version_epoch`,
  upsertPublication: `INSERT INTO publication VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (slot) DO UPDATE SET
    offset = excluded.offset, time = excluded.time, floor = excluded.floor, version = excluded.version,
    version_epoch = excluded.version_epoch, idempotency_key = excluded.idempotency_key,
    delta = excluded.delta, tags = excluded.tags, info = excluded.info, data = excluded.data`,
  readOldestFirst: `SELECT offset, tags, info, data FROM publication
    WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot`,
  readNewestFirst: `SELECT offset, tags, info, data FROM publication
    WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot DESC`,
  readSized: `SELECT offset, tags, info, data, ${rowBytes} AS bytes FROM publication
    WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot`,
  /** The bytes of all rows together, without reading the bulky columns. */
  measure: `SELECT sum(${rowBytes}) AS bytes
    FROM publication WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ?`,
  /** The bytes of each row. */
  sizes: `SELECT offset, ${rowBytes} AS bytes
    FROM publication WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot`,
  /** The keys of the rows, without reading the bulky columns. */
  keys: `SELECT offset, time, idempotency_key FROM publication
    WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot`,
} as const;

/** The values of one row of the table `publication`, in the order of its columns. */
function insertValues(entry: HistoryEntry, stream: Stream, slot: number): readonly SqlValue[] {
  return [
    slot,
    stream.top,
    stream.timeMs,
    stream.floor,
    stream.version.toString(),
    stream.versionEpoch,
    entry.idempotencyKey === "" ? null : entry.idempotencyKey,
    entry.delta ? 1 : 0,
    entry.tags === undefined ? null : JSON.stringify(entry.tags),
    entry.info === undefined ? null : encodeClientInfo(entry.info),
    entry.data,
  ];
}

/** Turns a row that was written from {@link insertValues} into the publication. */
function decodeStoredPublication(row: SqlRow): Publication {
  const info = row["info"];
  const tags = row["tags"];
  return {
    data: storedPayload(row["data"]),
    offset: Number(row["offset"]),
    ...(typeof info === "string" ? { info: parseStoredInfo(info) } : {}),
    ...(typeof tags === "string" ? { tags: parseStoredTags(tags) } : {}),
  };
}

/** Text in this column was checked before it was written, so it isn't checked again. */
function storedPayload(value: SqlRow[string] | undefined): Payload {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : trustedJsonText(String(value));
}

function parseStoredTags(text: string): Tags {
  const tags: Tags = JSON.parse(text);
  return tags;
}

function parseStoredInfo(text: string): ClientInfo {
  const { user, client }: { user: string; client: string } = JSON.parse(text);
  const connInfo = memberText(text, "conn_info");
  const chanInfo = memberText(text, "chan_info");
  return {
    user,
    client,
    ...(connInfo === undefined ? {} : { connInfo }),
    ...(chanInfo === undefined ? {} : { chanInfo }),
  };
}
