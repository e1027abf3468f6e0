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
  /** The connections that were found to have ended: their own leaves may still come. */
  readonly #found = new Set<string>();
  /** How many connections each user has. */
  readonly #users = new Map<string, number>();
  /** Those who have gone: the last connection, and when it ended, ms since 1970. */
  readonly #gone = new Map<string, GoneMember>();
  /** The connection was found to have ended. */
  found({ client }: ClientInfo): void {
    this.#found.add(client);
    const [oldest = ""] = this.#found;
    if (this.#found.size > foundMax) this.#found.delete(oldest);
  }

  /** When the first of them went; Infinity for none, undefined if it has to be looked for. */
  #goneSinceMs: number | undefined = Number.POSITIVE_INFINITY;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "pusher_member");
  }

  get isEmpty(): boolean {
    return !this.#exists || (this.#loaded().size === 0 && this.#gone.size === 0);
  }

  /** The connections of which subscribers were told. */
  get clients(): readonly ClientInfo[] {
    return [...this.#loaded().values()].map(({ info }) => info);
  }

  /** @returns what the join is: of a known connection, of a user who is there, of one who had gone, or of a new one */
  join(info: ClientInfo): "known" | "another" | "back" | "first" {
    const user = memberOf(info);
    if (user === undefined) return "another";
    const known = this.#loaded().get(info.client);
    if (known !== undefined) {
      // The instance before may have ended between the row and the word of it.
      const isTold = known.isTold;
      known.isTold = true;
      return isTold ? "known" : "another";
    }
    const isBack = this.#forget(user);
    this.#create();
    this.#sql.run(
      "INSERT OR REPLACE INTO pusher_member VALUES (?, ?, ?, NULL)",
      info.client,
      user,
      JSON.stringify(info),
    );
    const before = this.#users.get(user) ?? 0;
    this.#add(user, info, true);
    if (before > 0) return "another";
    return isBack ? "back" : "first";
  }

  /**
   * @param keeps whether somebody is told later that the user has gone
   * @returns what the leave is: of a connection that was found to have ended, of a user who is still there, or the last one
   */
  leave(info: ClientInfo, keeps: boolean, nowMs: number): "known" | "another" | "last" {
    const { client } = info;
    const clients = this.#loaded();
    const known = clients.get(client);
    if (known === undefined) return this.#found.delete(client) ? "known" : "another";
    const { user } = known;
    clients.delete(client);
    const left = (this.#users.get(user) ?? 1) - 1;
    if (left > 0) this.#users.set(user, left);
    else this.#users.delete(user);
    if (left > 0 || !keeps) {
      this.#delete(client);
      return left > 0 ? "another" : "last";
    }
    this.#sql.run("UPDATE pusher_member SET gone = ? WHERE client = ?", nowMs, client);
    this.#note(user, { client, atMs: nowMs });
    return "last";
  }

  /** When the first of those who have gone went, ms since 1970; Infinity for none. */
  get goneSinceMs(): number {
    this.#loaded();
    if (this.#goneSinceMs === undefined) {
      this.#goneSinceMs = Number.POSITIVE_INFINITY;
      for (const { atMs } of this.#gone.values())
        this.#goneSinceMs = Math.min(this.#goneSinceMs, atMs);
    }
    return this.#goneSinceMs;
  }

  /** Forgets those who have gone before a time. @returns their users */
  forgetGone(beforeMs: number): readonly string[] {
    if (this.goneSinceMs > beforeMs) return [];
    const due = [...this.#gone].filter(([, { atMs }]) => atMs <= beforeMs).map(([user]) => user);
    for (const user of due) this.#forget(user);
    return due;
  }

  /** The storage was deleted. */
  deleted(): void {
    this.#exists = false;
  }

  /** The connections, which are read once. */
  #loaded(): Map<string, RolledMember> {
    if (this.#clients !== undefined) return this.#clients;
    this.#clients = new Map();
    if (!this.#exists) return this.#clients;
    for (const row of this.#sql.rows("SELECT client, user, info, gone FROM pusher_member")) {
      const [client, user] = [columnText(row, "client"), columnText(row, "user")];
      const info: ClientInfo = JSON.parse(columnText(row, "info"));
      if (row["gone"] === null) this.#add(user, info, false);
      else this.#note(user, { client, atMs: Number(row["gone"]) });
    }
    return this.#clients;
  }

  #add(user: string, info: ClientInfo, isTold: boolean): void {
    this.#clients?.set(info.client, { user, info, isTold });
    this.#users.set(user, (this.#users.get(user) ?? 0) + 1);
  }

  /** A user has gone. */
  #note(user: string, gone: GoneMember): void {
    this.#gone.set(user, gone);
    if (this.#goneSinceMs !== undefined) this.#goneSinceMs = Math.min(this.#goneSinceMs, gone.atMs);
  }

  /** Forgets that a user has gone. @returns whether the user had */
  #forget(user: string): boolean {
    const gone = this.#gone.get(user);
    if (gone === undefined) return false;
    this.#gone.delete(user);
    this.#delete(gone.client);
    if (gone.atMs === this.#goneSinceMs) this.#goneSinceMs = undefined;
    return true;
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
  /** Whether this instance has told of it. */
  isTold: boolean;
}

interface GoneMember {
  readonly client: string;
  readonly atMs: number;
}

const foundMax = 10_000;

const createTable = `CREATE TABLE IF NOT EXISTS pusher_member (client TEXT PRIMARY KEY, user TEXT NOT NULL,
  info TEXT NOT NULL, gone INTEGER) WITHOUT ROWID`;
