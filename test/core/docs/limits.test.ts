import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allBounds, limitsFiles, limitsText } from "../../../cli/limits-page/limits-page.ts";
import { boundsIn, metBounds } from "../../../cli/limits-page/met-bounds.ts";
import { limits } from "../../../src/limits.ts";

const rows = Object.values(metBounds).flat();

describe("[B1] docs/limits.md", () => {
  const page = readFileSync("docs/limits.md", "utf8");

  it("is as npm run limits writes it", () => {
    expect(page).toBe(limitsText());
  });

  it("has all files of bounds, and each bound once", () => {
    const found = globSync(["src/**/{limits,*-limits}.ts", "cli/*/limits.ts"]).toSorted();
    expect(found).toEqual(limitsFiles.toSorted());
    const met = new Set(rows.flatMap(boundsIn));
    const bounds = allBounds().flatMap(([, , all]) => all);
    const all = bounds.flatMap(({ names }) => names.map(({ name }) => name));
    expect(all.length).toBeGreaterThan(250);
    expect(Object.keys(limits).filter((name) => !all.includes(name))).toEqual([]);
    const listed = Array.from(page.matchAll(/`(\w+)`: /g), ([, name = ""]) => name);
    expect([...listed, ...met].toSorted()).toEqual(all.toSorted());
  });

  it("says of each bound that is met what is seen there, and what one does", () => {
    expect(rows.length).toBeGreaterThan(25);
    for (const { subject, seen, remedy } of rows) {
      expect([subject, seen.length, remedy]).toEqual([
        expect.stringMatching(/^[A-Z]/),
        expect.any(Number),
        expect.stringMatching(/^[A-Z].*[^.]$/),
      ]);
      expect(seen.length).toBeGreaterThan(0);
    }
  });

  it("is short: the list has no reasons", () => {
    expect(page.split(/\s+/).length).toBeLessThan(9_200);
  });
});
