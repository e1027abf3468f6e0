import type { ClientInfo } from "../../../protocol/publication.ts";
import { columnText, hasTable, type Sql } from "../../../sql.ts";
import { memberOf } from "../presence-member.ts";

/**
 * The connections of members on a presence channel of which subscribers were told, a row for each: so it is known after a
 * crash who has left with it (rule PU14). The last connection of a user may stay for a while as that of one who has gone.
 */
export class MemberRoll {
  readonly #sql: Sql;
  #exists: boolean;
  #clients: Map<string, RolledMember> | undefined;
  /** How many connections each user has. */
  readonly #users = new Map<string, number>();
  /** Those who have gone: the last connection, and when it ended, ms since 1970. */
  readonly #gone = new Map<string, GoneMember>();
  /** The connections that were found to have ended: their own leaves may still come. */
  readonly #found = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "pusher_member");
  }

  get isEmpty(): boolean {
    return !this.#exists || (this.#all.size === 0 && this.#gone.size === 0);
  }

  /** The connections of which subscribers were told. */
  get clients(): readonly ClientInfo[] {
    return [...this.#all.values()].map(({ info }) => info);
  }

  /** @returns what the join is: of a known connection, of a user who is there, of one who had gone, or of a new one */
  join(info: ClientInfo): "known" | "another" | "back" | "first" {
    const user = memberOf(info);
    if (user === undefined) return "another";
    if (this.#all.has(info.client)) return "known";
    const gone = this.#gone.get(user);
    if (gone !== undefined) this.#delete(gone.client);
    this.#gone.delete(user);
    this.#create();
    this.#sql.run(
      "INSERT OR REPLACE INTO pusher_member VALUES (?, ?, ?, NULL)",
      info.client,
      user,
      JSON.stringify(info),
    );
    const before = this.#users.get(user) ?? 0;
    this.#add(user, info);
    if (before > 0) return "another";
    return gone === undefined ? "first" : "back";
  }

  /**
   * @param keeps whether somebody is told later that the user has gone
   * @returns what the leave is: of a connection that was found to have ended, of a user who is still there, or the last one
   */
  leave(info: ClientInfo, keeps: boolean, nowMs: number): "known" | "another" | "last" {
    const { client } = info;
    const known = this.#all.get(client);
    if (known === undefined) return this.#found.delete(client) ? "known" : "another";
    const { user } = known;
    this.#all.delete(client);
    const left = (this.#users.get(user) ?? 1) - 1;
    if (left > 0) this.#users.set(user, left);
    else this.#users.delete(user);
    if (left > 0 || !keeps) {
      this.#delete(client);
      return left > 0 ? "another" : "last";
    }
    this.#sql.run("UPDATE pusher_member SET gone = ? WHERE client = ?", nowMs, client);
    this.#gone.set(user, { client, atMs: nowMs });
    return "last";
  }

  /** The connection was found to have ended. */
  found({ client }: ClientInfo): void {
    this.#found.add(client);
    if (this.#found.size > foundMax) this.#found.delete([...this.#found][0] ?? "");
  }

  /** When the first of those who have gone went, ms since 1970; Infinity for none. */
  get goneSinceMs(): number {
    if (!this.#exists) return Number.POSITIVE_INFINITY;
    void this.#all;
    return Math.min(...[...this.#gone.values()].map(({ atMs }) => atMs));
  }

  /** Forgets those who have gone before a time. @returns their users */
  forgetGone(beforeMs: number): readonly string[] {
    const due = [...this.#gone].filter(([, { atMs }]) => atMs <= beforeMs);
    for (const [user, { client }] of due) {
      this.#gone.delete(user);
      this.#delete(client);
    }
    return due.map(([user]) => user);
  }

  /** The storage was deleted. */
  deleted(): void {
    this.#exists = false;
  }

  get #all(): Map<string, RolledMember> {
    if (this.#clients !== undefined) return this.#clients;
    this.#clients = new Map();
    if (!this.#exists) return this.#clients;
    for (const row of this.#sql.rows("SELECT client, user, info, gone FROM pusher_member")) {
      const [client, user] = [columnText(row, "client"), columnText(row, "user")];
      const info: ClientInfo = JSON.parse(columnText(row, "info"));
      if (row["gone"] === null) this.#add(user, info);
      else this.#gone.set(user, { client, atMs: Number(row["gone"]) });
    }
    return this.#clients;
  }

  #add(user: string, info: ClientInfo): void {
    this.#clients?.set(info.client, { user, info });
    this.#users.set(user, (this.#users.get(user) ?? 0) + 1);
  }

  #delete(client: string): void {
    this.#sql.run("DELETE FROM pusher_member WHERE client = ?", client);
  }

  #create(): void {
    if (this.#exists) return;
    this.#sql.run(createTable);
    this.#exists = true;
  }
}

interface RolledMember {
  readonly user: string;
  readonly info: ClientInfo;
}

interface GoneMember {
  readonly client: string;
  readonly atMs: number;
}

const foundMax = 10_000;

const createTable = `CREATE TABLE IF NOT EXISTS pusher_member (client TEXT PRIMARY KEY, user TEXT NOT NULL,
  info TEXT NOT NULL, gone INTEGER) WITHOUT ROWID`;
