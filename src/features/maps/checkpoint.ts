import { mapLimits } from "./limits.ts";
import { concatenated, utf8Text } from "../../protocol/bytes.ts";
import { encodeClientInfo } from "../../protocol/json/encode.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import { base64, parseBase64 } from "../../protocol/payload.ts";
import { parseStoredInfo } from "../../protocol/publication-columns.ts";
import type { Tags } from "../../protocol/publication.ts";
import { columnText, type Sql, type SqlRow } from "../../sql.ts";
import type { MapEntry } from "./map-state.ts";

/**
 * The checkpoint of an ephemeral map. It is written while the map is quiet, so that the state survives hibernation
 * (rule Z11). It has a few large rows, whatever the number of keys. Before the next change the checkpoint is taken out,
 * which costs one row. If an instance finds it taken out, the instance before ended without writing another one, and
 * the last changes that subscribers received are lost.
 */
export class MapCheckpoint {
  readonly #sql: Sql;
  #exists: boolean;
  #header: CheckpointHeader | undefined;
  /** Whether the instance before this one took the checkpoint out and wrote no other. */
  readonly wasLost: boolean;

  /** @param exists whether the table exists; it is made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
    const [row] = exists
      ? sql.rows("SELECT parts, epoch, top, time, due FROM map_checkpoint WHERE part = 0")
      : [];
    this.#header = row === undefined ? undefined : headerOf(row);
    this.wasLost = row !== undefined && this.#header === undefined;
  }

  /** The header of the checkpoint; undefined if there is no checkpoint, or it was taken out. */
  get header(): CheckpointHeader | undefined {
    return this.#header;
  }

  /** The entries that were written down; none if there is no checkpoint. */
  read(): readonly MapEntry[] {
    if (this.#header === undefined) return [];
    const rows = this.#sql.rows(
      "SELECT data FROM map_checkpoint WHERE part < (SELECT parts FROM map_checkpoint WHERE part = 0) ORDER BY part",
    );
    const all = concatenated(rows.map((row) => bytesOf(row["data"])));
    const lines = (utf8Text(all) ?? "").split("\n");
    return lines.filter((line) => line !== "").map(parseEntry);
  }

  /** Writes the map down: a row for each `limits.mapCheckpointBytesMax` bytes. */
  write(header: CheckpointHeader, entries: Iterable<MapEntry>): void {
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
    let text = "";
    for (const entry of entries) text += `${entryText(entry)}\n`;
    const bytes = new TextEncoder().encode(text);
    const size = mapLimits.mapCheckpointBytesMax;
    const parts = Math.max(1, Math.ceil(bytes.length / size));
    for (let part = parts - 1; part >= 0; part--) {
      this.#sql.run(
        upsert,
        part,
        parts,
        header.epoch,
        header.top,
        header.timeMs,
        header.dueMs ?? null,
        bytes.subarray(part * size, (part + 1) * size),
      );
    }
    this.#sql.run("DELETE FROM map_checkpoint WHERE part >= ?", parts);
    this.#header = header;
  }

  /** Invalidates the checkpoint, before the first change: one row written. */
  takeOut(nowMs: number): void {
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
    this.#sql.run(upsert, 0, 0, "", 0, nowMs, null, new Uint8Array(0));
    this.#header = undefined;
  }

  /** Deletes the checkpoint: the map is empty, and nobody is subscribed to it. */
  drop(): void {
    if (this.#exists) this.#sql.run("DROP TABLE map_checkpoint");
    this.#exists = false;
    this.#header = undefined;
  }

  /** Whether a row is stored. */
  get isStored(): boolean {
    return this.#exists;
  }
}

/** The fields of a checkpoint beside the entries of the map. */
export interface CheckpointHeader {
  readonly epoch: string;
  readonly top: number;
  /** When the newest change came, ms since 1970. */
  readonly timeMs: number;
  /** No key ends before this time, ms since 1970; absent if none ends. */
  readonly dueMs?: number;
}

/** `parts` of the row 0 is how many rows the checkpoint has; 0 if it was taken out. */
const createTable = `CREATE TABLE map_checkpoint (part INTEGER PRIMARY KEY, parts INTEGER NOT NULL, epoch TEXT NOT NULL,
  top INTEGER NOT NULL, time INTEGER NOT NULL, due INTEGER, data BLOB NOT NULL)`;

const upsert = `INSERT INTO map_checkpoint VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (part) DO UPDATE SET
  parts = excluded.parts, epoch = excluded.epoch, top = excluded.top, time = excluded.time, due = excluded.due,
  data = excluded.data`;

function headerOf(row: SqlRow): CheckpointHeader | undefined {
  const { parts, due } = row;
  if (parts === 0) return undefined;
  return {
    epoch: columnText(row, "epoch"),
    top: Number(row["top"]),
    timeMs: Number(row["time"]),
    ...(typeof due === "number" ? { dueMs: due } : {}),
  };
}

function bytesOf(value: SqlRow[string] | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(0);
}

/** An entry as a line of JSON; a value that isn't text is in base64. */
interface StoredEntry {
  readonly k: string;
  readonly o: number;
  readonly t: number;
  /** Present if the key was removed. */
  readonly r?: 1;
  /** Present if subscribers were sent other data than the value. */
  readonly x?: 1;
  /** Present if the value has grown to its end. */
  readonly f?: 1;
  readonly v?: string;
  readonly e?: string;
  readonly s?: number;
  readonly g?: Tags;
  readonly i?: string;
  readonly d?: string;
  readonly b?: string;
  /** When the key ends, ms since 1970, of a presence map. */
  readonly z?: number;
}

function entryText(entry: MapEntry): string {
  const { key, offset, timeMs, version, versionEpoch, score, tags, info, data } = entry;
  const stored: StoredEntry = {
    k: key,
    o: offset,
    t: timeMs,
    ...(entry.isRemoved ? { r: 1 } : {}),
    ...(entry.isDiverted ? { x: 1 } : {}),
    ...(entry.isFinal === true ? { f: 1 } : {}),
    ...(version === 0n ? {} : { v: version.toString(), e: versionEpoch }),
    ...(score === 0 ? {} : { s: score }),
    ...(tags === undefined ? {} : { g: tags }),
    ...(info === undefined ? {} : { i: encodeClientInfo(info) }),
    ...(typeof data === "string" ? { d: data } : { b: base64(data) }),
    ...(entry.endsMs === undefined ? {} : { z: entry.endsMs }),
  };
  return JSON.stringify(stored);
}

function parseEntry(line: string): MapEntry {
  const { k, o, t, r, x, f, v, e, s, g, i, d, b, z }: StoredEntry = JSON.parse(line);
  return {
    key: k,
    offset: o,
    timeMs: t,
    isRemoved: r === 1,
    isDiverted: x === 1,
    ...(f === 1 ? { isFinal: true } : {}),
    version: BigInt(v ?? "0"),
    versionEpoch: e ?? "",
    score: s ?? 0,
    ...(g === undefined ? {} : { tags: g }),
    ...(i === undefined ? {} : { info: parseStoredInfo(i) }),
    ...(z === undefined ? {} : { endsMs: z }),
    data: b === undefined ? trustedJsonText(d ?? "") : (parseBase64(b) ?? new Uint8Array(0)),
  };
}
