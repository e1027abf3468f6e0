import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isSqlRow } from "../../../package/test/node-sql.ts";
import { type SqlRow, type SqlValue, columnText } from "../../../src/sql.ts";

/** SQLite for one object, with nested undo. */
export interface Database {
  rows(query: string, values: readonly SqlValue[]): readonly SqlRow[];
  run(statement: string, values: readonly SqlValue[]): void;
  /** Begins a level: all writes from here on can be undone. */
  begin(): void;
  /** The writes since the last {@link begin} belong to the level below. */
  release(): void;
  /** Undoes the writes since the last {@link begin}. */
  rollBack(): void;
  deleteAll(): void;
  close(): void;
}

/** A database for one run, which executes every statement. */
export function freshDatabase(): Database {
  return new RealDatabase(new DatabaseSync(":memory:"));
}

/**
 * A database that other runs have used: opening a database and creating its tables takes longer than a whole run. So
 * tables are created once and then only emptied, and a list says which tables exist.
 */
export function usedDatabase(): Database {
  const kept = pool.pop();
  if (kept !== undefined) return kept;
  const real = new DatabaseSync(":memory:");
  const made = new Set(creations);
  for (const statement of made) real.exec(statement);
  return new PooledDatabase(real, made);
}

class RealDatabase implements Database {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  rows(query: string, values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#prepared(query)
      .all(...values)
      .filter(isSqlRow);
  }

  run(statement: string, values: readonly SqlValue[]): void {
    this.#prepared(statement).run(...values);
  }

  begin(): void {
    this.run("SAVEPOINT level", []);
  }

  release(): void {
    this.run("RELEASE level", []);
  }

  rollBack(): void {
    this.run("ROLLBACK TO level", []);
    this.release();
  }

  deleteAll(): void {
    const tables = this.rows("SELECT name FROM sqlite_master WHERE type = 'table'", []);
    for (const table of tables) this.run(`DROP TABLE ${columnText(table, "name")}`, []);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepared(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

class PooledDatabase implements Database {
  readonly #real: RealDatabase;
  #tables: ReadonlySet<string> = new Set();
  readonly #before: ReadonlySet<string>[] = [];
  readonly #made: ReadonlySet<string>;
  /** The run created a table that the next run wouldn't expect. */
  #isSpoilt = false;

  /** @param made statements whose tables exist already */
  constructor(database: DatabaseSync, made: ReadonlySet<string>) {
    this.#real = new RealDatabase(database);
    this.#made = made;
  }

  rows(query: string, values: readonly SqlValue[]): readonly SqlRow[] {
    const { kind, tables } = shapeOf(query);
    if (kind === "list") return this.#listed(query);
    this.#check(tables);
    return this.#real.rows(query, values);
  }

  run(statement: string, values: readonly SqlValue[]): void {
    const { kind, tables, lenient } = shapeOf(statement);
    const [table = ""] = tables;
    switch (kind) {
      case "list":
      case "other":
        this.#check(tables);
        this.#real.run(statement, values);
        return;
      case "create":
        if (!lenient && this.#tables.has(table)) throw new Error(`there is a table ${table}`);
        this.#tables = new Set(this.#tables).add(table);
        if (this.#made.has(statement)) return;
        creations.add(statement);
        this.#isSpoilt = true;
        this.#real.run(statement.replace(/TABLE (?!IF)/, "TABLE IF NOT EXISTS "), values);
        return;
      case "drop":
        if (!this.#tables.has(table)) {
          if (lenient) return;
          throw new Error(`there is no table ${table}`);
        }
        this.#real.run(`DELETE FROM ${table}`, []);
        this.#tables = new Set([...this.#tables].filter((name) => name !== table));
    }
  }

  begin(): void {
    this.#before.push(this.#tables);
    this.#real.begin();
  }

  release(): void {
    this.#before.pop();
    this.#real.release();
  }

  rollBack(): void {
    this.#tables = this.#before.pop() ?? this.#tables;
    this.#real.rollBack();
  }

  deleteAll(): void {
    for (const table of this.#tables) this.#real.run(`DELETE FROM ${table}`, []);
    this.#tables = new Set();
  }

  close(): void {
    this.deleteAll();
    if (this.#isSpoilt) this.#real.close();
    else pool.push(this);
  }

  /** The tables that exist, or the one of them that the query names. */
  #listed(query: string): readonly SqlRow[] {
    const named = /name = '(\w+)'/.exec(query)?.[1];
    const names = [...this.#tables].filter((name) => named === undefined || name === named);
    return names.map((name) => ({ name }));
  }

  #check(tables: readonly string[]): void {
    for (const table of tables) {
      if (!this.#tables.has(table)) throw new Error(`there is no table ${table}`);
    }
  }
}

interface Shape {
  readonly kind: "list" | "create" | "drop" | "other";
  readonly tables: readonly string[];
  /** Whether the statement has IF EXISTS or IF NOT EXISTS. */
  readonly lenient: boolean;
}

const shapes = new Map<string, Shape>();
/** All statements that ever created a table. */
const creations = new Set<string>();
const pool: PooledDatabase[] = [];

function shapeOf(text: string): Shape {
  const known = shapes.get(text);
  if (known !== undefined) return known;
  const [, verb] = /^\s*(CREATE|DROP)\s+TABLE/.exec(text) ?? [];
  const isList = /FROM sqlite_master WHERE (?:type = 'table'|name = '\w+')/.test(text);
  const places = [
    ...text.matchAll(/\b(?:FROM|INTO|TABLE|UPDATE)\s+(?:IF (?:NOT )?EXISTS\s+)?(?!SET\b)(\w+)/g),
  ];
  const shape: Shape = {
    kind: isList ? "list" : verb === "CREATE" ? "create" : verb === "DROP" ? "drop" : "other",
    tables: places.flatMap(([, table]) => (table === undefined ? [] : [table])),
    lenient: /TABLE IF (NOT )?EXISTS/.test(text),
  };
  shapes.set(text, shape);
  return shape;
}
