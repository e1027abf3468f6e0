import { columnText, hasTable, type Sql } from "../../../sql.ts";

/** The row that says how far a channel's publications have been judged for its audience (rule CU24). */
export class JudgedTable {
  readonly #sql: Sql;
  #exists: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "audience_judged");
  }

  load(): Judged | undefined {
    const [row] = this.#exists ? this.#sql.rows("SELECT * FROM audience_judged") : [];
    if (row === undefined) return undefined;
    return {
      epoch: columnText(row, "epoch"),
      upTo: Number(row["up_to"]),
      sampleOffset: Number(row["sample_offset"]),
      sampleMs: Number(row["sample_ms"]),
      firstMs: Number(row["first_ms"]),
      target: Number(row["target"]),
      after: columnText(row, "after_user"),
      asked: Number(row["asked"]),
      askAtMs: Number(row["ask_at"]),
    };
  }

  /** One row written. */
  write(judged: Judged, nowMs: number): void {
    if (!this.#exists) this.#sql.run(table);
    this.#exists = true;
    this.#sql.run(
      "INSERT OR REPLACE INTO audience_judged VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      nowMs,
      judged.epoch,
      judged.upTo,
      judged.sampleOffset,
      judged.sampleMs,
      judged.firstMs,
      judged.target,
      judged.after,
      judged.asked,
      judged.askAtMs,
    );
  }

  /** The table is gone. */
  deleted(): void {
    this.#exists = false;
  }

  /** Forgets it: nobody is told any more. */
  clear(): void {
    if (this.#exists) this.#sql.run("DROP TABLE audience_judged");
    this.#exists = false;
  }
}

/** How far the publications of a channel have been judged. */
export interface Judged {
  readonly epoch: string;
  /** Everything up to this offset has been judged for everybody. */
  readonly upTo: number;
  /**
   * The top at some time, from where on the publications after {@link upTo} can't be told to be old by their rows: the history
   * has lost the first of them, or they came at times that are yet to come. 0 for none.
   */
  readonly sampleOffset: number;
  readonly sampleMs: number;
  /** When the first publication after {@link upTo} came, if the history has lost it, ms since 1970; 0 if that isn't known. */
  readonly firstMs: number;
  /** The last offset that is being judged; 0 while nothing is. */
  readonly target: number;
  /** The last user for whom it was judged; "" for none. */
  readonly after: string;
  /**
   * How often it was asked in vain who has got it, counted from another number on once a ping was waited for; and when it is
   * asked again.
   */
  readonly asked: number;
  readonly askAtMs: number;
}

/** Nothing is being judged. */
export const atRest = {
  sampleOffset: 0,
  sampleMs: 0,
  firstMs: 0,
  target: 0,
  after: "",
  asked: 0,
  askAtMs: 0,
} as const satisfies Omit<Judged, "epoch" | "upTo">;

const table = `CREATE TABLE audience_judged (id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL,
  epoch TEXT NOT NULL, up_to INTEGER NOT NULL, sample_offset INTEGER NOT NULL, sample_ms INTEGER NOT NULL,
  first_ms INTEGER NOT NULL, target INTEGER NOT NULL, after_user TEXT NOT NULL, asked INTEGER NOT NULL,
  ask_at INTEGER NOT NULL)`;
