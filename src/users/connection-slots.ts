import { columnText, type Sql } from "../sql.ts";

/**
 * The connections that a home has admitted, where `client.user_connection_limit` is set (rule U12): a row for each, which
 * stays when the connection ends. So a user's slots may be taken only in appearance, and the objects that hold the
 * connections are asked before a connection is refused.
 */
export class ConnectionSlots {
  readonly #sql: Sql;
  #hasTable = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Takes a slot for a connection, unless all of the user's slots are taken.
   *
   * @param user    the user's key
   * @param holder  the object that holds the connection
   * @param silent  holders that don't answer: their connections don't count
   * @returns whether the connection has a slot now; it may have had one before, if its call is repeated
   */
  take(
    user: string,
    { client, holder }: Slot,
    limit: number,
    silent: ReadonlySet<string> = nobody,
  ): boolean {
    this.#createTable();
    const slots = this.#slots(user);
    if (slots.some((one) => one.client === client)) return true;
    const taken = slots.filter((one) => !silent.has(one.holder));
    if (taken.length >= limit) return false;
    this.#sql.run("INSERT INTO slot VALUES (?, ?, ?)", user, client, holder);
    return true;
  }

  /** The connections of a user that have slots, by the objects that hold them. */
  byHolder(user: string): ReadonlyMap<string, readonly string[]> {
    const clients = new Map<string, string[]>();
    for (const { client, holder } of this.#slots(user)) {
      const ofHolder = clients.get(holder) ?? [];
      clients.set(holder, ofHolder);
      ofHolder.push(client);
    }
    return clients;
  }

  /** Frees the slots of connections that have ended. */
  free(user: string, clients: readonly string[]): void {
    for (const client of clients)
      this.#sql.run("DELETE FROM slot WHERE user = ? AND client = ?", user, client);
  }

  #slots(user: string): readonly Slot[] {
    return this.#sql
      .rows("SELECT client, holder FROM slot WHERE user = ?", user)
      .map((row) => ({ client: columnText(row, "client"), holder: columnText(row, "holder") }));
  }

  #createTable(): void {
    if (this.#hasTable) return;
    this.#hasTable = true;
    const [table] = this.#sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'slot'");
    if (table === undefined) this.#sql.run(slotTable);
  }
}

/** One connection, and the object that holds it, by its node. */
export interface Slot {
  readonly client: string;
  readonly holder: string;
}

const nobody: ReadonlySet<string> = new Set();

const slotTable = `CREATE TABLE slot (user TEXT, client TEXT, holder TEXT NOT NULL, PRIMARY KEY (user, client)) WITHOUT ROWID`;
