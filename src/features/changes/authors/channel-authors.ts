import type { AcceptedEntry, ChannelPart } from "../../../channel/channel-part.ts";
import { hasTable, type Sql } from "../../../sql.ts";
import { untoldColumns, UntoldTable } from "../../cursors/forgetting/kept-users.ts";
import { changeLimits } from "../limits.ts";

/**
 * Knows whose clients have published to a channel, or changed a publication, as far as their homes haven't heard of it
 * (rule ED18). The table of authors has those that were noted before: without it a home would be told again.
 */
export class ChannelAuthors implements ChannelPart {
  readonly untold: UntoldTable;
  readonly #sql: Sql;
  #exists: boolean;
  /** The number of rows, once it is needed. */
  #count: number | undefined;
  /** Authors that have a row, some of them. */
  readonly #known = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "author");
    this.untold = new UntoldTable(sql, untoldAuthors);
  }

  accepted({ info }: AcceptedEntry, nowMs: number): void {
    const user = info?.user ?? "";
    if (user === "" || this.#known.has(user)) return;
    if (this.#known.size >= changeLimits.authorsInMemoryMax) this.#known.clear();
    this.#known.add(user);
    if (this.#has(user)) return;
    this.#add(user);
    this.untold.add(user, nowMs);
  }

  /** An erasure of all that a user has published begins: a later publication is noted anew. */
  erasing(user: string): void {
    this.#known.delete(user);
    if (!this.#has(user)) return;
    this.#sql.run("DELETE FROM author WHERE user = ?", user);
    if (this.#count !== undefined) this.#count--;
  }

  /** No home asks a channel to forget an author by itself: it has the publications erased. */
  forget(user: string): void {
    this.untold.remove(user);
  }

  /** The tables are gone. */
  deleted(): void {
    this.#exists = false;
    this.#count = 0;
    this.#known.clear();
    this.untold.deleted();
  }

  #has(user: string): boolean {
    if (!this.#exists) return false;
    return this.#sql.rows("SELECT 1 FROM author WHERE user = ?", user).length > 0;
  }

  #add(user: string): void {
    if (this.#exists && this.#rowCount() >= changeLimits.authorsMax) {
      // Their homes know of them, or are told. Those who publish again are noted again.
      this.#sql.run("DROP TABLE author");
      this.#exists = false;
    }
    if (!this.#exists) {
      this.#sql.run("CREATE TABLE author (user TEXT PRIMARY KEY) WITHOUT ROWID");
      this.#exists = true;
      this.#count = 0;
    }
    this.#sql.run("INSERT INTO author VALUES (?)", user);
    this.#count = this.#rowCount() + 1;
  }

  #rowCount(): number {
    this.#count ??= Number(this.#sql.rows("SELECT count(*) AS count FROM author")[0]?.["count"]);
    return this.#count;
  }
}

const untoldAuthors = {
  name: "untold_author",
  create: `CREATE TABLE untold_author ${untoldColumns}`,
} as const;
