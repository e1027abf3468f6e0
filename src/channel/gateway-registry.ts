import { columnText, type Sql } from "../sql.ts";
import type { History } from "./history.ts";
import { limits } from "../limits.ts";
import { storedTables } from "./stored-tables.ts";
import { dueMoment } from "../moment.ts";
import { slowWaitMaxMs } from "./follower-progress.ts";

/**
 * The gateways that follow a channel, in the table `gateway` (rule L5). The table is read once, when the object wakes.
 * From then on a row is written when a gateway registers, when it is forgotten and, rarely, in between: when a check
 * found that it still follows, or when it couldn't be reached. The relay decides when to check a gateway.
 */
export class GatewayRegistry {
  readonly #sql: Sql;
  readonly #checks: Checks;
  readonly #rows = new Map<string, Row>();

  /** @param tables those that exist */
  constructor(sql: Sql, checks: Checks, tables = storedTables(sql)) {
    this.#sql = sql;
    this.#checks = checks;
    if (!tables.has("gateway")) return;
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

  /** When a gateway last registered or was found to follow the channel, ms since 1970; -Infinity without gateways. */
  get newestMs(): number {
    return Math.max(...[...this.#rows.values()].map(({ timeMs }) => timeMs));
  }

  /** Registers a gateway: one row written, or none for a gateway that is registered already. */
  register(gateway: string, nowMs: number): void {
    if (this.#rows.has(gateway)) return;
    // Only the first gateway may find no table. It may also find an empty table, because a table stays when its rows
    // are deleted.
    if (this.#rows.size === 0) this.#sql.run(createTable);
    this.#write(gateway, { timeMs: nowMs, retryAtMs: undefined });
  }

  /** Forgets a gateway: one row written. */
  remove(gateway: string): void {
    if (this.#rows.delete(gateway)) this.#sql.run("DELETE FROM gateway WHERE name = ?", gateway);
  }

  /** Notes that a gateway still follows the channel: one row written. */
  found(gateway: string, nowMs: number): void {
    const { history, intervalMs } = this.#checks;
    const nextInMs = history.unused ? Math.min(intervalMs, limits.unusedCheckMs) : undefined;
    const retryAtMs = nextInMs === undefined ? undefined : nowMs + nextInMs;
    this.#write(gateway, { timeMs: nowMs, retryAtMs });
  }

  /** Notes when to check a gateway that can't be reached and has missed entries: one row written. */
  retryLater(gateway: string, retryAtMs: number): void {
    this.#write(gateway, { timeMs: this.#rows.get(gateway)?.timeMs ?? 0, retryAtMs });
  }

  /** When to check whether a gateway still follows the channel, ms since 1970; Infinity if it isn't registered. */
  checkDueAtMs(gateway: string, nowMs: number): number {
    const row = this.#rows.get(gateway);
    if (row === undefined) return Number.POSITIVE_INFINITY;
    const { history, intervalMs } = this.#checks;
    const believedMs = history.unused ? Math.min(intervalMs, limits.unusedStreamMs) : intervalMs;
    if (row.retryAtMs === undefined || history.unused)
      return dueMoment(row.retryAtMs ?? row.timeMs + believedMs, intervalMs, nowMs);
    return dueMoment(row.retryAtMs, slowWaitMaxMs, nowMs);
  }

  /** Whether a gateway hasn't been found to follow the channel since that time, although it can be reached. */
  isUnknownSince(gateway: string, timeMs: number): boolean {
    const row = this.#rows.get(gateway);
    return row !== undefined && row.retryAtMs === undefined && row.timeMs < timeMs;
  }

  #write(gateway: string, row: Row): void {
    this.#sql.run(upsert, gateway, row.timeMs, row.retryAtMs ?? null);
    this.#rows.set(gateway, row);
  }
}

/** When gateways are checked. */
interface Checks {
  /** For how long a gateway is believed to follow the channel without a check, ms. */
  readonly intervalMs: number;
  /**
   * Says whether nothing was ever published with history. Then a gateway is checked `limits.unusedStreamMs` after it registered,
   * and each `limits.unusedCheckMs` from then on, if that is sooner: such channels cost nothing to invent (rule L8).
   */
  readonly history: Pick<History, "unused">;
}

interface Row {
  /** When the gateway registered or was last found to follow the channel, ms since 1970. */
  readonly timeMs: number;
  /**
   * When to check a gateway that couldn't be reached, or one of an unused channel again, ms since 1970; undefined for
   * all others.
   */
  readonly retryAtMs: number | undefined;
}

/** Without a rowid, the name is the table's only index, and a row costs one row written. */
const createTable = `CREATE TABLE IF NOT EXISTS gateway (name TEXT PRIMARY KEY, time INTEGER NOT NULL, retry INTEGER)
  WITHOUT ROWID`;
const upsert = `INSERT INTO gateway VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET
  time = excluded.time, retry = excluded.retry`;
