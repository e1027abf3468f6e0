import { describe, expect, it } from "vitest";
import { cursorLimits } from "../../../../src/features/cursors/limits.ts";
import { MarkTable, type UserMark } from "../../../../src/features/cursors/mark-table.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

function markOf(user: string, read: number): UserMark {
  return { user, epoch: "e", read, readMs: 1, start: 0, isReset: false, covered: undefined };
}

/** A table of two users' marks, and how many rows its queries have given. */
function marked(): { readonly sql: CountingSql; readonly table: MarkTable } {
  const sql = new CountingSql(new NodeSql());
  const table = new MarkTable(sql);
  table.write(markOf("ann", 3), true, 1);
  table.write(markOf("bob", 5), true, 1);
  return { sql, table };
}

describe("questions of how many have read up to an offset", () => {
  it("[CU44] share a count, each offset and cursor its own", () => {
    const { sql, table } = marked();
    const ask = () => [
      table.countRead("", "e", 4),
      table.countRead("", "e", 3),
      table.countRead("ann", "e", 3),
      table.countRead("", "other", 3),
      table.lastLooked(""),
    ];
    const first = ask();
    expect(first).toEqual([1, 2, 1, 0, undefined]);
    const { rowsRead } = sql;
    for (let times = 0; times < 1_000; times++) expect(ask()).toEqual(first);
    expect(sql.rowsRead).toBe(rowsRead);
  });

  it.each<[string, (table: MarkTable) => void, number]>([
    ["a mark goes on", (table) => table.write(markOf("ann", 4), false, 2), 2],
    ["a user marks first", (table) => table.write(markOf("eve", 9), true, 2), 2],
    ["a user is forgotten", (table) => table.remove("bob"), 0],
    ["nothing is kept any more", (table) => table.deleted(), 0],
  ])("[CU44] are counted anew once %s", (_, change, count) => {
    const { table } = marked();
    expect(table.countRead("", "e", 4)).toBe(1);
    change(table);
    expect(table.countRead("", "e", 4)).toBe(count);
  });

  it("[CU44] are shared up to a bound", () => {
    const { sql, table } = marked();
    for (let offset = 0; offset <= cursorLimits.sharedAnswersMax; offset++)
      table.countRead("", "e", offset);
    const { rowsRead } = sql;
    table.countRead("", "e", 0);
    expect(sql.rowsRead).toBe(rowsRead + 1);
  });
});
