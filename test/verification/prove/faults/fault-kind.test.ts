import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageRoot } from "../../../../cli/package-root.ts";
import { faultKinds } from "./fault-kind.ts";

it("docs/guarantees.md describes every kind of fault", () => {
  const text = readFileSync(join(packageRoot, "docs", "guarantees.md"), "utf8");
  const rows = faultKinds.map(({ kind, meaning }) => `| \`${kind}\` | ${meaning} |`);
  expect(rows.filter((row) => !text.includes(row))).toEqual([]);
});
