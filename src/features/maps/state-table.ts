import { columnsOf, parseStoredTags, readColumns } from "../../protocol/publication-columns.ts";
import { columnText, type Sql, type SqlRow } from "../../sql.ts";
import type { KeyCounts, KeyHead, KnownKey, MapEntry, MapState } from "./map-state.ts";

/**
 * The state of a map in SQLite: a row for each key. The key is the primary key of a table without row ids, so that the
 * rows lie in the order of the keys and a change costs one row written (rule Z10). There is no index on the time, which
 * would cost a second row: `MapExpiry` looks through the rows now and then.
 */
export class StateTable implements MapState {
  readonly #sql: Sql;
  #exists: boolean;
  #dueMs: number | undefined;

  /** @param exists whether the tables exist; they are made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
    const due = exists ? sql.rows("SELECT due FROM map_due")[0]?.["due"] : undefined;
    this.#dueMs = typeof due === "number" ? due : undefined;
  }

  known(key: string): KnownKey | undefined {
    const [row] = this.#rows(`SELECT ${knownColumns} FROM map_state WHERE key = ?`, key);
    return row === undefined ? undefined : knownKey(row);
  }

  read(key: string): MapEntry | undefined {
    const [row] = this.#rows(
      `SELECT ${entryColumns} FROM map_state WHERE key = ? AND removed = 0`,
      key,
    );
    return row === undefined ? undefined : mapEntry(row);
  }

  write(entry: MapEntry): void {
    this.#create();
    this.#sql.run(
      upsert,
      entry.key,
      entry.offset,
      entry.timeMs,
      entry.isRemoved ? 1 : 0,
      (entry.isDiverted ? marks.diverted : 0) + (entry.isFinal === true ? marks.final : 0),
      entry.version.toString(),
      entry.versionEpoch,
      entry.score,
      ...columnsOf(entry),
    );
  }

  delete(key: string): void {
    if (this.#exists) this.#sql.run("DELETE FROM map_state WHERE key = ?", key);
  }

  heads(after: string, count: number): readonly KeyHead[] {
    return this.#rows(
      `SELECT key, offset, time, removed, ${valueBytes} AS bytes FROM map_state
        WHERE key > ? ORDER BY key LIMIT ?`,
      after,
      count,
    ).map(keyHead);
  }

  entries(after: string, until: string, offsetMax: number): readonly MapEntry[] {
    return this.#rows(
      `SELECT ${entryColumns} FROM map_state
        WHERE key > ? AND key <= ? AND removed = 0 AND offset <= ? ORDER BY key`,
      after,
      until,
      offsetMax,
    ).map(mapEntry);
  }

  count(): KeyCounts {
    const [row] = this.#rows("SELECT count(*) AS known, sum(removed) AS removed FROM map_state");
    const removed = Number(row?.["removed"] ?? 0);
    return { keys: Number(row?.["known"] ?? 0) - removed, removed };
  }

  get isEmpty(): boolean {
    return this.#rows("SELECT 1 FROM map_state LIMIT 1").length === 0;
  }

  clear(): void {
    if (!this.#exists) return;
    this.#sql.run("DROP TABLE map_state");
    this.#sql.run("DROP TABLE map_due");
    this.#exists = false;
    this.#dueMs = undefined;
  }

  get dueMs(): number | undefined {
    return this.#dueMs;
  }

  noteDue(dueMs: number | undefined): void {
    if (dueMs === this.#dueMs) return;
    this.#create();
    this.#dueMs = dueMs;
    this.#sql.run(
      "INSERT INTO map_due VALUES (1, ?, 0) ON CONFLICT (id) DO UPDATE SET due = excluded.due",
      dueMs ?? null,
    );
  }

  #rows(query: string, ...values: readonly (string | number)[]): readonly SqlRow[] {
    return this.#exists ? this.#sql.rows(query, ...values) : [];
  }

  #create(): void {
    if (this.#exists) return;
    for (const statement of createTables) this.#sql.run(statement);
    this.#exists = true;
  }
}

/** The bulky columns come last, because a look at the heads skips them. */
const createTables = [
  `CREATE TABLE map_state (key TEXT PRIMARY KEY, offset INTEGER NOT NULL, time INTEGER NOT NULL,
    removed INTEGER NOT NULL, diverted INTEGER NOT NULL, version TEXT NOT NULL, version_epoch TEXT NOT NULL,
    score INTEGER NOT NULL, tags TEXT, info TEXT, data TEXT NOT NULL) WITHOUT ROWID`,
  "CREATE TABLE map_due (id INTEGER PRIMARY KEY CHECK (id = 1), due INTEGER, time INTEGER NOT NULL)",
];

const upsert = `INSERT INTO map_state VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
  offset = excluded.offset, time = excluded.time, removed = excluded.removed, diverted = excluded.diverted,
  version = excluded.version, version_epoch = excluded.version_epoch, score = excluded.score,
  tags = excluded.tags, info = excluded.info, data = excluded.data`;

const knownColumns = "key, offset, time, removed, diverted, version, version_epoch, tags";
const entryColumns = `${knownColumns}, score, info, data`;
const valueBytes =
  "octet_length(key) + octet_length(data) + ifnull(octet_length(info), 0) + ifnull(octet_length(tags), 0) + 64";

/** The bits of the column `diverted`: subscribers were sent other data; the value has grown to its end. */
const marks = { diverted: 1, final: 2 } as const;

function keyHead(row: SqlRow): KeyHead {
  return {
    key: columnText(row, "key"),
    offset: Number(row["offset"]),
    timeMs: Number(row["time"]),
    isRemoved: row["removed"] === 1,
    bytes: Number(row["bytes"]),
  };
}

function knownKey(row: SqlRow): KnownKey {
  const { tags } = row;
  const marked = Number(row["diverted"]);
  return {
    key: columnText(row, "key"),
    offset: Number(row["offset"]),
    timeMs: Number(row["time"]),
    isRemoved: row["removed"] === 1,
    version: BigInt(columnText(row, "version")),
    versionEpoch: columnText(row, "version_epoch"),
    isDiverted: (marked & marks.diverted) > 0,
    ...((marked & marks.final) > 0 ? { isFinal: true } : {}),
    ...(typeof tags === "string" ? { tags: parseStoredTags(tags) } : {}),
  };
}

function mapEntry(row: SqlRow): MapEntry {
  return { ...knownKey(row), ...readColumns(row), score: Number(row["score"]) };
}
