import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageRoot } from "../../cli/package-root.ts";
import { changed } from "../../test/verification/weakened/changed-copy.ts";
import {
  arrivalRules,
  changesWithout,
  isWeakenedName,
  weakenable,
  weakenedName,
  weakenedOf,
} from "./weakened.ts";

it.each(arrivalRules)("can take rule %s out of the source", (rule) => {
  for (const change of changesWithout[rule]) {
    const source = readFileSync(join(packageRoot, change.file), "utf8");
    expect(changed(source, change)).toContain(change.weakened);
  }
});

it("names each system without a rule", () => {
  for (const system of weakenable)
    for (const rule of arrivalRules)
      expect(weakenedOf(weakenedName(system, rule))).toEqual({ system, rule });
  expect(["channel", "ws-without-F12", "gateway-without-F1"].some(isWeakenedName)).toBe(false);
});
