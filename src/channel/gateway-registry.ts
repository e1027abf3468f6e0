import { columnText, type Sql } from "../sql.ts";
import { storedTables } from "./stored-tables.ts";

interface Row {
  /** When the gateway registered, or was last found to be there. */
  readonly timeMs: number;
  /** When to ask a gateway that couldn't be reached; undefined for one that could. */
  readonly retryAtMs: number | undefined;
}

/**
 * Which gateways follow a channel (rule L5). It is read once, when the object wakes; from then on a row is written when one
 * registers and when one is forgotten, and rarely in between: when a gateway was asked whether it is still there.
 */
export class GatewayRegistry {
  readonly #sql: Sql;
  readonly #checkIntervalMs: number;
  readonly #rows = new Map<string, Row>();

  /** @param checkIntervalMs how long a gateway is believed to follow the channel without being asked */
  constructor(sql: Sql, checkIntervalMs: number) {
    this.#sql = sql;
    this.#checkIntervalMs = checkIntervalMs;
    if (!storedTables(sql).has("gateway")) return;
    for (const row of sql.rows("SELECT name, time, retry FROM gateway")) {
      const retry = row["retry"];
      this.#rows.set(columnText(row, "name"), {
        timeMs: Number(row["time"]),
        retryAtMs: typeof retry === "number" ? retry : undefined,
      });
    }
  }

  get size(): number {
    return this.#rows.size;
  }

  /** The names of all gateways, in no particular order. */
  get gateways(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** When a gateway last registered or was found to be there, ms since 1970; -Infinity when there is none. */
  get newestMs(): number {
    return Math.max(...[...this.#rows.values()].map(({ timeMs }) => timeMs));
  }

  /** Registers a gateway: one row written, or none for one that is registered. */
  add(gateway: string, nowMs: number): void {
    if (this.#rows.has(gateway)) return;
    // Only the first one may find no table. It may also find an empty one, for a table that was made once can stay.
    if (this.#rows.size === 0) this.#sql.run(createTable);
    this.#write(gateway, { timeMs: nowMs, retryAtMs: undefined });
  }

  /** Forgets a gateway: one row written. */
  remove(gateway: string): void {
    if (this.#rows.delete(gateway)) this.#sql.run("DELETE FROM gateway WHERE name = ?", gateway);
  }

  /** Notes that a gateway is still there: one row written. */
  found(gateway: string, nowMs: number): void {
    this.#write(gateway, { timeMs: nowMs, retryAtMs: undefined });
  }

  /** Notes when to ask a gateway that can't be reached and has missed something: one row written. */
  retryLater(gateway: string, retryAtMs: number): void {
    this.#write(gateway, { timeMs: this.#rows.get(gateway)?.timeMs ?? 0, retryAtMs });
  }

  /** When a gateway is to be asked whether it is still there, ms since 1970. */
  checkDueAtMs(gateway: string): number {
    const row = this.#rows.get(gateway);
    if (row === undefined) return Number.POSITIVE_INFINITY;
    return row.retryAtMs ?? row.timeMs + this.#checkIntervalMs;
  }

  /** Whether nobody knows of a gateway that it was there at that time, and asking it now may tell. */
  isUnknownSince(gateway: string, timeMs: number): boolean {
    const row = this.#rows.get(gateway);
    return row !== undefined && row.retryAtMs === undefined && row.timeMs < timeMs;
  }

  #write(gateway: string, row: Row): void {
    this.#sql.run(upsert, gateway, row.timeMs, row.retryAtMs ?? null);
    this.#rows.set(gateway, row);
  }
}

/** Without a rowid the name is the table's only index, and a row costs one written. */
const createTable = `CREATE TABLE IF NOT EXISTS gateway (name TEXT PRIMARY KEY, time INTEGER NOT NULL, retry INTEGER)
  WITHOUT ROWID`;
const upsert = `INSERT INTO gateway VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET
  time = excluded.time, retry = excluded.retry`;
