import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../../tools/wrangler.ts";
import { faultKinds } from "./fault-kind.ts";

it("docs/guarantees.md names every kind of fault, and what it is", () => {
  const text = readFileSync(join(root, "docs", "guarantees.md"), "utf8");
  const rows = faultKinds.map(({ kind, meaning }) => `| \`${kind}\` | ${meaning} |`);
  expect(rows.filter((row) => !text.includes(row))).toEqual([]);
});
