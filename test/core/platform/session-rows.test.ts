import { describe, expect, it } from "vitest";
import type { Sql, SqlRow, SqlValue } from "../../../src/sql.ts";
import { SessionRows } from "../../../src/object/session-rows.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

describe("the rows of large sessions", () => {
  it("[G2] are found after hibernation, and written only when they change", () => {
    const sql = new WatchedSql();
    const rows = new SessionRows(sql);
    rows.store("one", undefined);
    rows.store("one", "first");
    rows.store("two", "second");
    rows.store("one", "first");
    expect([rows.textOf("one"), rows.textOf("two"), rows.textOf("three")]).toEqual([
      "first",
      "second",
      undefined,
    ]);
    expect(sql.writes).toBe(2);
    const woken = new SessionRows(sql);
    expect(woken.textOf("one")).toBe("first");
    woken.store("one", "first");
    woken.store("one", "first");
    woken.store("two", "changed");
    woken.store("two", undefined);
    woken.store("two", undefined);
    expect(sql.writes).toBe(4);
    expect([woken.textOf("one"), woken.textOf("two")]).toEqual(["first", undefined]);
  });

  it("[G2] aren't read before they are needed", () => {
    const sql = new WatchedSql();
    new SessionRows(sql).store("one", "x".repeat(100_000));
    sql.charactersRead = 0;
    const woken = new SessionRows(sql);
    woken.store("another", "y");
    expect(sql.charactersRead).toBeLessThan(1_000);
    expect(woken.textOf("one")).toHaveLength(100_000);
  });

  it("[G2] go with the connections that are gone", () => {
    const sql = new WatchedSql();
    const rows = new SessionRows(sql);
    for (const client of ["one", "two", "three"]) rows.store(client, client);
    const woken = new SessionRows(sql);
    woken.keepOnly(new Set(["two"]));
    expect([woken.textOf("one"), woken.textOf("two"), woken.textOf("three")]).toEqual([
      undefined,
      "two",
      undefined,
    ]);
    expect(sql.rows("SELECT client FROM session")).toEqual([{ client: "two" }]);
  });
});

/** A storage that records its use. */
class WatchedSql implements Sql {
  readonly #sql = new NodeSql();
  writes = 0;
  charactersRead = 0;

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    const rows = this.#sql.rows(query, ...values);
    this.charactersRead += JSON.stringify(rows).length;
    return rows;
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    // Making the table isn't a row.
    this.writes += statement.startsWith("CREATE") ? 0 : 1;
    this.#sql.run(statement, ...values);
  }

  transaction<Result>(work: () => Result): Result {
    return this.#sql.transaction(work);
  }
}
