import type { UserConnection } from "../contract/user-order.ts";
import { columnText, hasTable, type Sql } from "../sql.ts";

/**
 * The connections that a home has admitted, where `client.user_connection_limit` is set (rules U12 and U37): a row for each, which
 * stays when the connection ends. So a user's slots may be taken only in appearance, and the objects that hold the
 * connections are asked before a connection is refused.
 */
export class ConnectionSlots {
  readonly #sql: Sql;
  #hasTable: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "slot");
  }

  /**
   * Takes a slot for a connection, unless all of its user's slots are taken.
   *
   * @param holder the node of the object that holds the connection
   * @param silent holders that don't answer: their connections don't count
   * @returns whether the connection has a slot now; it may have had one before, if its call is repeated
   */
  occupy(
    { key, client }: UserConnection,
    holder: string,
    limit: number,
    silent: ReadonlySet<string> = nobody,
  ): boolean {
    this.#createTable();
    const slots = this.#slots(key);
    if (slots.some((one) => one.client === client)) return true;
    const taken = slots.filter((one) => !silent.has(one.holder));
    if (taken.length >= limit) return false;
    this.#sql.run("INSERT INTO slot VALUES (?, ?, ?)", key, client, holder);
    return true;
  }

  /**
   * Takes a slot for a connection that is to be its user's only one (rule C10). A repeated call changes nothing: a newer
   * connection may have come since.
   *
   * @returns the IDs of the other connections that have slots; undefined if this one had one already
   */
  takeAlone({ key, client }: UserConnection, holder: string): readonly string[] | undefined {
    this.#createTable();
    const slots = this.#slots(key);
    if (slots.some((one) => one.client === client)) return undefined;
    this.#sql.run("INSERT INTO slot VALUES (?, ?, ?)", key, client, holder);
    return slots.map((one) => one.client);
  }

  /**
   * The connections of users that have slots, by the objects that hold them.
   *
   * @param users the keys of the users
   */
  byHolder(users: Iterable<string>): ReadonlyMap<string, readonly UserConnection[]> {
    const connections = new Map<string, UserConnection[]>();
    for (const key of users) {
      for (const { client, holder } of this.#slots(key)) {
        const held = connections.get(holder) ?? [];
        connections.set(holder, held);
        held.push({ key, client });
      }
    }
    return connections;
  }

  /** Frees the slots of connections that have ended. */
  free(connections: readonly UserConnection[]): void {
    for (const { key, client } of connections)
      this.#sql.run("DELETE FROM slot WHERE user = ? AND client = ?", key, client);
  }

  /** Frees all slots of users whom an object doesn't hold any more. */
  forget(users: Iterable<string>, holder: string): void {
    if (!this.#hasTable) return;
    for (const user of users)
      this.#sql.run("DELETE FROM slot WHERE user = ? AND holder = ?", user, holder);
  }

  #slots(user: string): readonly Slot[] {
    if (!this.#hasTable) return [];
    return this.#sql
      .rows("SELECT client, holder FROM slot WHERE user = ?", user)
      .map((row) => ({ client: columnText(row, "client"), holder: columnText(row, "holder") }));
  }

  #createTable(): void {
    if (!this.#hasTable) this.#sql.run(slotTable);
    this.#hasTable = true;
  }
}

/** The slot of one connection, and the object that holds it. */
interface Slot {
  readonly client: string;
  readonly holder: string;
}

const nobody: ReadonlySet<string> = new Set();

const slotTable = `CREATE TABLE slot (user TEXT, client TEXT, holder TEXT NOT NULL, PRIMARY KEY (user, client)) WITHOUT ROWID`;
