import { once } from "node:events";
import type { Client, Pool, PoolClient } from "pg";
import { failureCause } from "../connection/failure-cause.ts";
import { exitCodes, Failure, usageFailure } from "../shell.ts";
import type { Fate } from "./answers.ts";
import { outboxLimits } from "./limits.ts";
import type { OutboxRow } from "./row-command.ts";
import { type OutboxTable, statementsOf } from "./table-sql.ts";

/** How many rows wait, since when, and how many of them no partition has. */
export interface Waiting {
  readonly rows: number;
  readonly oldestSeconds: number;
  readonly strayed: number;
}

/** Rows of one partition, which no other process takes until they are settled. */
export interface TakenRows {
  readonly rows: readonly OutboxRow[];
  /** Deletes the rows that are done, sets those aside that are refused, and lets the partition go. */
  settle(fates: ReadonlyMap<string, Fate>): Promise<void>;
}

/** The table of the outbox, in its database. Methods reject with the errors of `pg`; {@link databaseCause} explains them. */
export class OutboxDatabase {
  readonly #table: OutboxTable;
  readonly #statements: ReturnType<typeof statementsOf>;
  readonly #pool: Pool;
  readonly #listener: () => Client;

  /** The name of the database; "" until {@link check} has asked for it. */
  name = "";

  /** Connects to nothing yet. */
  static async of(dsn: string, table: OutboxTable): Promise<OutboxDatabase> {
    // It takes long to load, and no other command needs it.
    const { default: pg } = await import("pg");
    const options = {
      connectionString: libpqDsn(dsn),
      application_name: "dormouse outbox",
      connectionTimeoutMillis: outboxLimits.connectMs,
      keepAlive: true,
    };
    // Beside the batches, the table is asked for what waits.
    const pool = new pg.Pool({ ...options, max: outboxLimits.batchesMax + 2 });
    // A connection that ends is seen where it is used next. Between two statements of a batch, only its event would say so.
    pool.on("error", () => undefined);
    pool.on("connect", (client) => client.on("error", () => undefined));
    return new OutboxDatabase(table, pool, () => new pg.Client(options));
  }

  private constructor(table: OutboxTable, pool: Pool, listener: () => Client) {
    this.#table = table;
    this.#statements = statementsOf(table);
    this.#pool = pool;
    this.#listener = listener;
  }

  /** @throws {Failure} if the database can't be reached, or hasn't what the command needs */
  async check(): Promise<void> {
    try {
      await this.#pool.query(this.#statements.check);
      await this.#prove(this.#pool);
      const { rows } = await this.#pool.query<{ database: string }>(this.#statements.database);
      this.name = rows[0]?.database ?? "";
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Does to no rows what is done to sent ones. It fails if that would. */
  async #prove(client: Pick<PoolClient, "query">): Promise<void> {
    await client.query(this.#statements.refuse, [[], []]);
    await client.query(this.#statements.remove, [[]]);
  }

  /** The partitions that have rows. */
  async waitingPartitions(partitions: number): Promise<readonly number[]> {
    const { rows } = await this.#pool.query<{ partition: number }>(this.#statements.waiting, [
      partitions,
    ]);
    return rows.map(({ partition }) => partition);
  }

  async waiting(partitions: number): Promise<Waiting> {
    const { rows } = await this.#pool.query<{ waiting: number; oldest: number; strayed: number }>(
      this.#statements.report,
      [partitions],
    );
    const { waiting = 0, oldest = 0, strayed = 0 } = rows[0] ?? {};
    return { rows: waiting, oldestSeconds: oldest, strayed };
  }

  /**
   * Takes the first rows of a partition.
   *
   * @param proves whether it has to be proven first that rows can be settled, because some couldn't. Otherwise the same rows
   *               would be sent for ever, longer than the server remembers their keys.
   * @returns undefined if another process has the partition, or nobody has put rows into it
   */
  async take(partition: number, rowsMax: number, proves: boolean): Promise<TakenRows | undefined> {
    const client = await this.#pool.connect();
    try {
      await client.query("BEGIN");
      const lock = await client.query<{ taken: boolean }>(this.#statements.take, [partition]);
      const taken = lock.rows[0]?.taken === true;
      if (taken && proves) await this.#prove(client);
      const rows = taken ? await this.#rows(client, partition, rowsMax) : [];
      if (rows.length > 0) return { rows, settle: (fates) => this.#settle(client, fates) };
      await client.query("ROLLBACK");
      client.release();
      return undefined;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #rows(
    client: PoolClient,
    partition: number,
    rowsMax: number,
  ): Promise<readonly OutboxRow[]> {
    const { rowBytesMax, readBytesMax } = outboxLimits;
    const { rows } = await client.query<StoredRow>(this.#statements.rows, [
      partition,
      rowsMax,
      rowBytesMax,
      readBytesMax,
    ]);
    return rows.map(({ id, method, bytes, payload, created_at: createdAt }) => ({
      id,
      method,
      bytes,
      payload: payload ?? undefined,
      createdAt,
    }));
  }

  async #settle(client: PoolClient, fates: ReadonlyMap<string, Fate>): Promise<void> {
    const refused = [...fates].flatMap(([id, fate]) =>
      fate.outcome === "refused" ? [{ id, reason: fate.reason }] : [],
    );
    const gone = [...fates].flatMap(([id, { outcome }]) => (outcome === "again" ? [] : [id]));
    try {
      if (refused.length > 0) {
        const columns = [refused.map(({ id }) => id), refused.map(({ reason }) => reason)];
        await client.query(this.#statements.refuse, columns);
      }
      if (gone.length > 0) await client.query(this.#statements.remove, [gone]);
      await client.query("COMMIT");
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /**
   * Listens to notifications.
   *
   * @param heard is called with what each notification carries
   * @returns when `stop` says so; rejects when the connection is lost
   */
  async listen(channel: string, heard: (text: string) => void, stop: AbortSignal): Promise<void> {
    const client = this.#listener();
    client.on("notification", ({ payload = "" }) => heard(payload));
    const lost = new Promise<never>((_, reject) => {
      client.on("error", reject);
      client.on("end", () => reject(new Error("the connection has ended")));
    });
    const over = new AbortController();
    const stopped = once(stop, "abort", { signal: over.signal }).catch(() => undefined);
    try {
      const listening = client.connect().then(() => client.query(`LISTEN ${channel}`));
      await Promise.race([listening, lost, stopped]);
      await Promise.race([lost, stopped]);
    } finally {
      over.abort();
      await client.end().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #failure(error: unknown): Failure {
    const { name, refusedName } = this.#table;
    switch (codeOf(error)) {
      case "42P01": // undefined_table
      case "3F000": // invalid_schema_name
      case "42703": // undefined_column
        return usageFailure(
          `${databaseCause(error)}: dormouse outbox --sql prints the SQL of ${name} and ${refusedName}`,
        );
      case "42501": // insufficient_privilege
        return usageFailure(`${databaseCause(error)}; ${this.#grants()}`);
      case undefined:
        return new Failure(
          `the database of OUTBOX_DSN can't be reached: ${databaseCause(error)}`,
          exitCodes.unreachable,
        );
      default:
        return usageFailure(`the database refuses OUTBOX_DSN: ${databaseCause(error)}`);
    }
  }

  #grants(): string {
    const { name, refusedName } = this.#table;
    return `the user of OUTBOX_DSN needs SELECT and DELETE on ${name}, and INSERT on ${refusedName}`;
  }
}

interface StoredRow {
  readonly id: string;
  readonly method: string;
  readonly bytes: number;
  readonly payload: string | null;
  readonly created_at: string;
}

/** `pg` takes sslmode otherwise than all other programs, unless it is asked not to. */
export function libpqDsn(dsn: string): string {
  if (!/[?&]sslmode=/.test(dsn) || /[?&]uselibpqcompat=|sslmode=no-verify/.test(dsn)) return dsn;
  return `${dsn}&uselibpqcompat=true`;
}

/** @throws {Failure} if a text isn't the address of a database; it is not quoted, because it may have a password */
export function checkDsn(dsn: string): void {
  if (!/^postgres(?:ql)?:\/\//.test(dsn) || !URL.canParse(dsn.replace("@/", "@host/")))
    throw usageFailure(
      "OUTBOX_DSN takes an address such as postgresql://user:password@host:5432/database",
    );
}

/** What went wrong with the database, on one line. */
export function databaseCause(error: unknown): string {
  return failureCause(error).replaceAll(/\s+/g, " ").trim();
}

/** The code that the database gave an error (five letters and digits); undefined if the error isn't of the database. */
function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
    ? code
    : undefined;
}
