import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { limitsFiles, limitsText, writtenFrom } from "../../../cli/limits-page/limits-page.ts";
import { limits } from "../../../src/limits.ts";

describe("[B1] docs/limits.md", () => {
  const page = readFileSync("docs/limits.md", "utf8");

  it("has every bound as npm run limits writes it", () => {
    expect(page.slice(page.indexOf(writtenFrom))).toBe(limitsText());
  });

  it("has all files of bounds, and each bound of the kernel", () => {
    const found = globSync("src/**/{limits,*-limits}.ts").toSorted();
    expect(found).toEqual(limitsFiles.toSorted());
    const names = Array.from(page.matchAll(/`(\w+)`: /g), ([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(250);
    expect(Object.keys(limits).filter((name) => !names.includes(name))).toEqual([]);
  });
});
