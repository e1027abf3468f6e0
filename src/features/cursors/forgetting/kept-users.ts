import { type Sql, columnText, hasTable } from "../../../sql.ts";
import { EarlierTable } from "../earlier-table.ts";
import { MarkTable, type UserMark } from "../mark-table.ts";
import { type Member, MemberTable } from "../audience/member-table.ts";

/** The columns of a table of untold users. */
export const untoldColumns = "(user TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID";

/** Gets each change of the marks of a channel's users, once it is written. */
export interface MarkWatcher {
  /**
   * @param before undefined if nothing was kept of the user
   * @param after  undefined if nothing is kept of the user any more
   */
  changed(user: string, before: UserMark | undefined, after: UserMark | undefined): void;
}

/** Everything that a channel keeps of users, and whether their homes know that (rule CU31). */
export class KeptUsers {
  readonly marks: MarkTable;
  readonly earlier: EarlierTable;
  readonly members: MemberTable;
  readonly untold: UntoldTable;
  /** Absent where nobody wants to know of changes. */
  watcher: MarkWatcher | undefined;

  constructor(sql: Sql) {
    this.marks = new MarkTable(sql);
    this.earlier = new EarlierTable(sql);
    this.members = new MemberTable(sql);
    this.untold = new UntoldTable(sql, untoldUsers);
  }

  /** Whether nothing is kept of anybody. */
  get isEmpty(): boolean {
    return this.marks.isEmpty && this.members.size === 0;
  }

  /**
   * Writes a user's mark.
   *
   * @param kept the mark before; undefined if the user has none
   * @returns false if the user has none, and there is no room for another one
   */
  mark(mark: UserMark, kept: UserMark | undefined, nowMs: number): boolean {
    const isNew = kept === undefined;
    if (!this.marks.write(mark, isNew, nowMs)) return false;
    this.watcher?.changed(mark.user, kept, mark);
    if (isNew && this.members.find(mark.user) === undefined) this.untold.add(mark.user, nowMs);
    return true;
  }

  /** Makes a user a member who is none. */
  enter(member: Member, nowMs: number): void {
    if (this.members.size === 0) this.earlier.clear();
    this.members.write(member, true, nowMs);
    if (this.marks.find(member.user) === undefined) this.untold.add(member.user, nowMs);
  }

  /** The tables are gone, which had no rows. */
  deleted(): void {
    this.marks.deleted();
    this.earlier.deleted();
    this.members.deleted();
    this.untold.deleted();
  }

  /** Deletes everything that is kept of a user. */
  forget(user: string): void {
    const kept = this.watcher && this.marks.find(user);
    this.marks.remove(user);
    this.earlier.remove(user);
    if (kept !== undefined) this.watcher?.changed(user, kept, undefined);
    if (this.members.find(user) !== undefined) this.members.remove(user);
    this.untold.remove(user);
  }
}

/** The table of the users of whom a channel keeps marks or memberships. */
const untoldUsers = {
  name: "untold_user",
  create: `CREATE TABLE untold_user ${untoldColumns}`,
} as const;

/**
 * The users of whom a channel keeps something that it hasn't reported to their homes yet (rule CU31). The table is made
 * for the first such user. A user's row here is written in the same commit as the first row that is kept of the user.
 */
export class UntoldTable {
  readonly #sql: Sql;
  readonly #table: { readonly name: string; readonly create: string };
  #exists: boolean;
  readonly #users = new Map<string, number>();

  constructor(sql: Sql, table: { readonly name: string; readonly create: string }) {
    this.#sql = sql;
    this.#table = table;
    this.#exists = hasTable(sql, table.name);
    if (!this.#exists) return;
    for (const row of sql.rows(`SELECT user, time FROM ${table.name}`))
      this.#users.set(columnText(row, "user"), Number(row["time"]));
  }

  /** The users, with the times from which on something of them has been kept, ms since 1970. */
  get users(): ReadonlyMap<string, number> {
    return this.#users;
  }

  /** Notes a user; a user who is noted already keeps the earlier time. */
  add(user: string, nowMs: number): void {
    if (this.#users.has(user)) return;
    if (!this.#exists) this.#sql.run(this.#table.create);
    this.#exists = true;
    this.#sql.run(`INSERT INTO ${this.#table.name} VALUES (?, ?)`, user, nowMs);
    this.#users.set(user, nowMs);
  }

  remove(user: string): void {
    if (this.#users.delete(user))
      this.#sql.run(`DELETE FROM ${this.#table.name} WHERE user = ?`, user);
  }

  /** The table is gone, which had no rows. */
  deleted(): void {
    this.#exists = false;
  }

  /** Moves a user behind all others. */
  putOff(user: string): void {
    const sinceMs = this.#users.get(user);
    if (sinceMs === undefined) return;
    this.#users.delete(user);
    this.#users.set(user, sinceMs);
  }
}
