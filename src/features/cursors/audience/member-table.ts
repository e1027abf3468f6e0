import { columnText, hasTable, type Sql, type SqlRow } from "../../../sql.ts";

/**
 * The table of a channel's audience: a row for each member (rule CU20). It is made with the first member.
 */
export class MemberTable {
  readonly #sql: Sql;
  #exists: boolean;
  /** Undefined until somebody asks. */
  #count: number | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "audience_member");
  }

  /** The number of members. */
  get size(): number {
    if (!this.#exists) return 0;
    return (this.#count ??= Number(
      this.#sql.rows("SELECT count(*) AS count FROM audience_member")[0]?.["count"],
    ));
  }

  find(user: string): Member | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql.rows("SELECT * FROM audience_member WHERE user = ?", user);
    return row && memberOf(row);
  }

  /** The first members after a name, in the order of the names. @param after "" for the first page */
  page(after: string, limit: number): readonly Member[] {
    if (!this.#exists) return [];
    const query = "SELECT * FROM audience_member WHERE user > ? ORDER BY user LIMIT ?";
    return this.#sql.rows(query, after, limit).map(memberOf);
  }

  /** Writes a user's row. @param isNew whether the user has none */
  write({ user, since, epoch, unseen }: Member, isNew: boolean, nowMs: number): void {
    const size = isNew ? this.size : 0;
    if (!this.#exists) this.#sql.run(table);
    this.#exists = true;
    this.#sql.run(
      "INSERT OR REPLACE INTO audience_member VALUES (?, ?, ?, ?, ?, ?)",
      user,
      nowMs,
      epoch,
      since,
      unseen?.from ?? null,
      unseen?.to ?? null,
    );
    if (isNew) this.#count = size + 1;
  }

  /** Deletes the row of a user who has one. */
  remove(user: string): void {
    const { size } = this;
    this.#sql.run("DELETE FROM audience_member WHERE user = ?", user);
    this.#count = size - 1;
  }

  /** Deletes all rows, at a cost that hardly depends on their number. */
  clear(): void {
    if (!this.#exists) return;
    this.#sql.run("DROP TABLE audience_member");
    this.deleted();
  }

  /** The table is gone. */
  deleted(): void {
    this.#exists = false;
    this.#count = 0;
  }
}

/** A user to whom the publications of a channel are addressed. */
export interface Member {
  readonly user: string;
  /** The epoch that the offset is of; "" if the channel had no stream. */
  readonly epoch: string;
  /** The top when the user became a member: the publications after it count. */
  readonly since: number;
  /** The publications of the epoch that were reported as unseen, and still are; undefined for none (rule CU26). */
  readonly unseen: UnseenRange | undefined;
}

/** The offsets of the first and the last publication that a member hasn't seen. */
interface UnseenRange {
  readonly from: number;
  readonly to: number;
}

/** After which offset of an epoch publications count for a member: all do if the epoch began later. */
export function sinceIn(channelEpoch: string, { epoch, since }: Member): number {
  return epoch === channelEpoch ? since : 0;
}

function memberOf(row: SqlRow): Member {
  const from = row["unseen_from"] ?? null;
  return {
    user: columnText(row, "user"),
    epoch: columnText(row, "epoch"),
    since: Number(row["since"]),
    unseen: from === null ? undefined : { from: Number(from), to: Number(row["unseen_to"]) },
  };
}

const table = `CREATE TABLE audience_member (user TEXT PRIMARY KEY, time INTEGER NOT NULL, epoch TEXT NOT NULL,
  since INTEGER NOT NULL, unseen_from INTEGER, unseen_to INTEGER) WITHOUT ROWID`;
