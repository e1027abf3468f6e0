import { columnText, hasTable, type Sql } from "../sql.ts";

/**
 * The sessions of a gateway that are too large for their sockets' attachments, in a row each (rule G2). Most gateways
 * never have one, so the table is created with the first.
 */
export class SessionRows {
  readonly #sql: Sql;
  /**
   * The stored texts, by the connection's ID. A text is undefined while the row has not been read since the object
   * woke; the others take no memory of their own, as their sessions hold them anyway. Undefined as a whole while there
   * is no table.
   */
  #texts: Map<string, string | undefined> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    if (!hasTable(sql, "session")) return;
    const rows = sql.rows("SELECT client FROM session");
    this.#texts = new Map(rows.map((row) => [columnText(row, "client"), undefined]));
  }

  /**
   * Reads the row of a connection.
   *
   * @param client the connection's ID
   * @returns undefined when there is none
   */
  textOf(client: string): string | undefined {
    if (this.#texts?.has(client) !== true) return undefined;
    const [row] = this.#sql.rows("SELECT packed FROM session WHERE client = ?", client);
    return row === undefined ? undefined : columnText(row, "packed");
  }

  /**
   * Stores a session, which costs a row written if its text has changed.
   *
   * @param packed the session's text; undefined deletes the row
   */
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

  /**
   * Deletes the rows of all other connections: their sockets were lost with an instance that could not delete the rows.
   */
  keepOnly(clients: ReadonlySet<string>): void {
    for (const client of this.#texts?.keys() ?? []) {
      if (!clients.has(client)) this.store(client, undefined);
    }
  }

  #isStored(client: string, packed: string): boolean {
    const known = this.#texts?.get(client);
    if (known !== undefined) return known === packed;
    if (this.textOf(client) !== packed) return false;
    this.#texts?.set(client, packed);
    return true;
  }
}
