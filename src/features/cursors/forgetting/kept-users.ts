import type { Sql } from "../../../sql.ts";
import { EarlierTable } from "../earlier-table.ts";
import { MarkTable } from "../mark-table.ts";
import { type Member, MemberTable } from "../audience/member-table.ts";
import { UntoldTable } from "./untold-table.ts";
import type { UserMark } from "../user-mark.ts";

/** Hears of the marks of a channel's users, once they are written. */
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
    this.untold = new UntoldTable(sql);
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
