import { columnText, type Sql } from "../../src/sql.ts";

/**
 * The sessions of a gateway that are too large for their sockets' attachments: a row each (rule G2). Most gateways never
 * have one, so the table is made when the first comes.
 */
export class SessionRows {
  readonly #sql: Sql;
  /**
   * Who has a row, and the text that a session gave for it, which the session holds anyway; undefined until it gave one
   * since the object woke. Undefined as a whole while there is no table.
   */
  #texts: Map<string, string | undefined> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'session'");
    if (table === undefined) return;
    const rows = sql.rows("SELECT client FROM session");
    this.#texts = new Map(rows.map((row) => [columnText(row, "client"), undefined]));
  }

  /** What was stored for a connection; undefined when nothing is. */
  find(client: string): string | undefined {
    if (this.#texts?.has(client) !== true) return undefined;
    const [row] = this.#sql.rows("SELECT packed FROM session WHERE client = ?", client);
    return row === undefined ? undefined : columnText(row, "packed");
  }

  /** Stores a session's text, if it changed; undefined deletes it. One row written. */
  store(client: string, packed: string | undefined): void {
    if (packed === undefined) {
      if (this.#texts?.delete(client) !== true) return;
      this.#sql.run("DELETE FROM session WHERE client = ?", client);
      return;
    }
    if (this.#isStored(client, packed)) return;
    if (this.#texts === undefined) {
      this.#sql.run("CREATE TABLE session (client TEXT PRIMARY KEY, packed TEXT) WITHOUT ROWID");
      this.#texts = new Map();
    }
    this.#texts.set(client, packed);
    this.#sql.run(
      "INSERT INTO session VALUES (?, ?) ON CONFLICT (client) DO UPDATE SET packed = excluded.packed",
      client,
      packed,
    );
  }

  /** Deletes the rows of connections that are gone: their sockets died with an instance that could not clean up. */
  keepOnly(clients: ReadonlySet<string>): void {
    for (const client of this.#texts?.keys() ?? []) {
      if (!clients.has(client)) this.store(client, undefined);
    }
  }

  #isStored(client: string, packed: string): boolean {
    const known = this.#texts?.get(client);
    if (known !== undefined) return known === packed;
    if (this.find(client) !== packed) return false;
    this.#texts?.set(client, packed);
    return true;
  }
}
