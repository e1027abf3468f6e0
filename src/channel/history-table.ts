import { newestRow } from "./ring.ts";
import { columnText, type Sql, type SqlRow, type SqlValue } from "../sql.ts";
import { storedTables } from "./stored-tables.ts";
import type { PublicationRequest } from "../contract/channel-call.ts";
import { encodeClientInfo } from "../protocol/json/encode.ts";
import { memberText, trustedJsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication, Tags } from "../protocol/publication.ts";

/** What a stream is besides its publications. */
export interface Stream {
  readonly epoch: string;
  /** Offset of the newest publication; 0 before the first. */
  readonly top: number;
  /** The oldest offset that may be shown; older rows may still lie in the ring. */
  readonly floor: number;
  /** When the newest publication came, or the stream was made; ms since 1970. */
  readonly timeMs: number;
  /** The newest version published; 0n when none was. */
  readonly version: bigint;
  readonly versionEpoch: string;
}

const publicationColumns = `
  slot INTEGER PRIMARY KEY, offset INTEGER NOT NULL, time INTEGER NOT NULL, floor INTEGER NOT NULL,
  version TEXT NOT NULL, version_epoch TEXT NOT NULL, idempotency_key TEXT, delta INTEGER NOT NULL,
  tags TEXT, info TEXT, data TEXT NOT NULL`;

/** Every statement about the stream's two tables. The bulky columns come last: a scan that needs none of them skips them. */
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
  /** How many bytes the rows would bring, without reading what makes them large. */
  measure: `SELECT sum(octet_length(data) + ifnull(octet_length(info), 0) + ifnull(octet_length(tags), 0) + 64) AS bytes
    FROM publication WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ?`,
  /** The same of each. */
  sizes: `SELECT offset, octet_length(data) + ifnull(octet_length(info), 0) + ifnull(octet_length(tags), 0) + 64 AS bytes
    FROM publication WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot`,
  /** What the rows say of their keys, without what makes them large. */
  keys: `SELECT offset, time, idempotency_key FROM publication
    WHERE slot BETWEEN ? AND ? AND offset BETWEEN ? AND ? ORDER BY slot`,
} as const;

/** What a former instance left. */
export interface StoredStream {
  readonly stream: Stream;
  /** The size of the ring that its publications lie in, whatever is configured now. */
  readonly size: number;
}

/**
 * Reads what a former instance left; undefined when it left no stream. Whatever the history's size: the stream's own row,
 * and those that {@link newestRow} reads.
 */
export function loadStream(sql: Sql): StoredStream | undefined {
  if (!storedTables(sql).has("stream")) return undefined;
  const meta = sql.rows(
    "SELECT size, epoch, top AS offset, floor, time, version, version_epoch FROM stream",
  )[0];
  if (meta === undefined) return undefined;
  const size = Number(meta["size"]);
  // The stream's own row is newer than the ring only when the ring was emptied.
  const source = newestRow(sql, size) ?? meta;
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

/**
 * Moves the newest publications to a ring of another size, within SQLite: they need not fit in memory. Call it in a
 * transaction. Reads the whole ring and writes a row for each publication kept, once for each change of the configuration.
 *
 * @returns the stream as it is then
 */
export function resizeRing(sql: Sql, { stream, size: before }: StoredStream, size: number): Stream {
  // What the smaller of the two rings lets go is gone for good: a larger one must not count on those rows.
  const floor = Math.max(stream.floor, stream.top - Math.min(before, size) + 1);
  sql.run("ALTER TABLE publication RENAME TO publication_before");
  sql.run(`CREATE TABLE publication (${publicationColumns})`);
  sql.run(
    `INSERT INTO publication SELECT offset % ?, offset, time, ?, version, version_epoch, idempotency_key, delta,
      tags, info, data FROM publication_before WHERE offset > ?`,
    size,
    floor,
    stream.top - size,
  );
  sql.run("DROP TABLE publication_before");
  sql.run("UPDATE stream SET size = ?", size);
  return { ...stream, floor };
}

/** A publication on its way into the history: what was asked for, and who published it when that was a client. */
export interface HistoryEntry extends Omit<PublicationRequest, "skipHistory"> {
  readonly info?: ClientInfo;
}

/** The values of one row of the table `publication`, in its columns' order. */
export function insertValues(
  entry: HistoryEntry,
  stream: Stream,
  slot: number,
): readonly SqlValue[] {
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

/** Turns a row written from {@link insertValues} into the publication it was. */
export function decodeStoredPublication(row: SqlRow): Publication {
  const info = row["info"];
  const tags = row["tags"];
  return {
    data: storedPayload(row["data"]),
    offset: Number(row["offset"]),
    ...(typeof info === "string" ? { info: parseStoredInfo(info) } : {}),
    ...(typeof tags === "string" ? { tags: parseStoredTags(tags) } : {}),
  };
}

/** Text in this column was checked before it was written. */
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
