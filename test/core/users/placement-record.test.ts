import { describe, expect, it } from "vitest";
import { recordPlacement } from "../../../src/users/placement-record.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const agreed = { conflicts: [] };

describe("the record of jurisdictions", () => {
  it("[PL4] refuses the first jurisdiction until the operator says what was before", () => {
    const sql = new NodeSql();
    const scopes = [["namespace chat", "eu"]] as const;
    const unknown = { scope: "namespace chat", recorded: "unknown", jurisdiction: "eu" };
    expect(recordPlacement(sql, { scopes })).toEqual({ conflicts: [unknown] });
    expect(recordPlacement(sql, { scopes, before: "new" })).toEqual(agreed);
    expect(recordPlacement(sql, { scopes })).toEqual(agreed);
  });

  it("[PL4] refuses a change, and records nothing of a configuration that it refuses", () => {
    const sql = new NodeSql();
    recordPlacement(sql, { scopes: [["namespace chat", "eu"]], before: "new" });
    const changed = [
      ["namespace chat", "us"],
      ["namespace news", "us"],
    ] as const;
    const conflict = { scope: "namespace chat", recorded: "eu", jurisdiction: "us" };
    expect(recordPlacement(sql, { scopes: changed })).toEqual({ conflicts: [conflict] });
    expect(recordPlacement(sql, { scopes: [["namespace news", "eu"]] })).toEqual(agreed);
  });

  it("[PL4] takes a namespace that it doesn't know as a new one", () => {
    const sql = new NodeSql();
    recordPlacement(sql, { scopes: [["namespace chat", "eu"]], before: "new" });
    const scopes = [
      ["namespace chat", "eu"],
      ["namespace news", "us"],
    ] as const;
    expect(recordPlacement(sql, { scopes })).toEqual(agreed);
  });

  it.each([
    ["eu", true],
    ["none", false],
    ["new", false],
  ])("[PL5] a change from eu with %s as the one before: %j", (before, isTaken) => {
    const sql = new NodeSql();
    recordPlacement(sql, { scopes: [["namespace chat", "eu"]], before: "new" });
    const { conflicts } = recordPlacement(sql, { scopes: [["namespace chat", "none"]], before });
    expect(conflicts).toHaveLength(isTaken ? 0 : 1);
  });

  it("[PL5] a statement that is left in place admits no other change", () => {
    const sql = new NodeSql();
    recordPlacement(sql, { scopes: [["namespace chat", "eu"]], before: "none" });
    const { conflicts } = recordPlacement(sql, {
      scopes: [["namespace chat", "us"]],
      before: "none",
    });
    expect(conflicts).toHaveLength(1);
  });
});
