import type { Sql } from "../../src/channel/sql.ts";

/**
 * The sessions of a gateway that are too large for their sockets' attachments: a row each (rule G2). Most gateways never
 * have one, so the table is made when the first comes.
 */
export class SessionRows {
  readonly #sql: Sql;
  /** Whose row says what; undefined while there is no table. */
  #rows: Map<string, string> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'session'");
    if (table === undefined) return;
    const rows = sql.rows("SELECT client, packed FROM session");
    this.#rows = new Map(rows.map((row) => [String(row["client"]), String(row["packed"])]));
  }

  /** What was stored for a connection; undefined when nothing is. */
  find(client: string): string | undefined {
    return this.#rows?.get(client);
  }

  /** Stores a session's text, if it changed; undefined deletes it. One row written. */
  store(client: string, packed: string | undefined): void {
    if (this.#rows?.get(client) === packed) return;
    if (packed === undefined) {
      this.#rows?.delete(client);
      this.#sql.run("DELETE FROM session WHERE client = ?", client);
      return;
    }
    if (this.#rows === undefined) {
      this.#sql.run("CREATE TABLE session (client TEXT PRIMARY KEY, packed TEXT) WITHOUT ROWID");
      this.#rows = new Map();
    }
    this.#rows.set(client, packed);
    this.#sql.run(
      "INSERT INTO session VALUES (?, ?) ON CONFLICT (client) DO UPDATE SET packed = excluded.packed",
      client,
      packed,
    );
  }

  /** Deletes the rows of connections that are gone: their sockets died with an instance that could not clean up. */
  keepOnly(clients: ReadonlySet<string>): void {
    for (const client of this.#rows?.keys() ?? []) {
      if (!clients.has(client)) this.store(client, undefined);
    }
  }
}
