import { utf8Length } from "../../protocol/bytes.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { columnText, type Sql } from "../../sql.ts";
import { procedureLimits } from "./limits.ts";

/** The keys of a channel, as its code reads and writes them. */
export interface ChannelKeyStore {
  /** A call begins: ends the keys whose time has come. */
  begin(nowMs: number): void;
  /**
   * The value of a key; undefined without it.
   *
   * @throws if the value isn't JSON: a client of a map has set it
   */
  read(key: string): JsonText | undefined;
  /** The first keys after a key, in their order; "" for the first of all. */
  after(key: string, count: number): readonly string[];
  readonly isEmpty: boolean;
  /** How many keys there are, and their bytes with the values, where that is bounded. */
  size(nowMs: number): { readonly keys: number; readonly bytes: number | undefined };
  /** Makes room for these changes, which come next. @returns why there is none; undefined if there is */
  refuse(changes: KeyChanges, nowMs: number): string | undefined;
  /** Makes the changes, in the order in which the keys were named. */
  write(changes: KeyChanges, nowMs: number): void;
  /** Forgets what was known of the table: the storage was deleted. */
  dropped(): void;
}

/** New values of keys; undefined for a key that is removed. */
export type KeyChanges = ReadonlyMap<string, JsonText | undefined>;

/**
 * The keys of a channel that is no map: a row for each, in the order of the keys. A change costs one row written. Nobody sees
 * them but the channel's code.
 */
export class KeyTable implements ChannelKeyStore {
  readonly #sql: Sql;
  #exists: boolean;
  /** Undefined until it is needed, and after a change failed. */
  #size: Size | undefined;
  /** The size after the changes that were last asked about; undefined once something was written. */
  #next: { readonly changes: KeyChanges; readonly size: Size } | undefined;

  /** @param exists whether the table does; it is made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
  }

  begin(): void {
    // Its keys have no end.
  }

  read(key: string): JsonText | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql.rows("SELECT value FROM procedure_key WHERE key = ?", key);
    return row === undefined ? undefined : trustedJsonText(columnText(row, "value"));
  }

  after(key: string, count: number): readonly string[] {
    if (!this.#exists) return [];
    return this.#sql
      .rows("SELECT key FROM procedure_key WHERE key > ? ORDER BY key LIMIT ?", key, count)
      .map((row) => columnText(row, "key"));
  }

  get isEmpty(): boolean {
    return !this.#exists || this.size().keys === 0;
  }

  size(): Size {
    this.#size ??= this.#measure();
    return this.#size;
  }

  refuse(changes: KeyChanges): string | undefined {
    const { keys, bytes } = this.#sizeAfter(changes);
    const { keysMax, keysBytesMax } = procedureLimits;
    if (keys > keysMax && keys > this.size().keys) return `a channel has at most ${keysMax} keys`;
    if (bytes > keysBytesMax && bytes > this.size().bytes)
      return `the keys of a channel have at most ${keysBytesMax} bytes`;
    return undefined;
  }

  write(changes: KeyChanges, nowMs: number): void {
    const size = this.#sizeAfter(changes);
    this.#size = undefined;
    this.#next = undefined;
    for (const [key, value] of changes) {
      if (value !== undefined) {
        this.#create();
        this.#sql.run(upsert, key, nowMs, value);
      } else if (this.#exists) this.#sql.run("DELETE FROM procedure_key WHERE key = ?", key);
    }
    this.#size = size;
  }

  dropped(): void {
    this.#exists = false;
    this.#size = undefined;
    this.#next = undefined;
  }

  /** A call asks twice, before it writes anything and when it writes: the rows are read once. */
  #sizeAfter(changes: KeyChanges): Size {
    if (this.#next?.changes === changes) return this.#next.size;
    let { keys, bytes } = this.size();
    for (const [key, value] of changes) {
      const before = this.#bytesOf(key);
      if (before > 0) keys--;
      bytes -= before;
      if (value === undefined) continue;
      keys++;
      bytes += utf8Length(key) + utf8Length(value);
    }
    const size = { keys, bytes };
    this.#next = { changes, size };
    return size;
  }

  #bytesOf(key: string): number {
    if (!this.#exists) return 0;
    const [row] = this.#sql.rows(
      `SELECT ${rowBytes} AS bytes FROM procedure_key WHERE key = ?`,
      key,
    );
    return Number(row?.["bytes"] ?? 0);
  }

  #measure(): Size {
    if (!this.#exists) return { keys: 0, bytes: 0 };
    const [row] = this.#sql.rows(
      `SELECT count(*) AS keys, sum(${rowBytes}) AS bytes FROM procedure_key`,
    );
    return { keys: Number(row?.["keys"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) };
  }

  #create(): void {
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
  }
}

/** How many keys there are, and their bytes with the values. */
interface Size {
  readonly keys: number;
  readonly bytes: number;
}

const createTable = `CREATE TABLE procedure_key (key TEXT PRIMARY KEY, time INTEGER NOT NULL, value TEXT NOT NULL)
  WITHOUT ROWID`;
const upsert = `INSERT INTO procedure_key VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET time = excluded.time, value = excluded.value`;
const rowBytes = "octet_length(key) + octet_length(value)";
