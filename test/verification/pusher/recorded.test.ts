import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { exchanges } from "./exchanges.ts";
import { explained, explanationOf } from "./explained.ts";
import { differences } from "./player.ts";
import { recordedOf } from "./recorded.ts";

const [ours, theirs] = [recordedOf("dormouse"), recordedOf("sockudo-5.2.0")];
const different = exchanges
  .map(({ name }) => name)
  .filter((name) => differences(ours[name] ?? [], theirs[name] ?? []).length > 0);

describe("the answers of two servers to the same frames and requests", () => {
  it("are recorded for all exchanges, of which there are more than 400 frames and requests", () => {
    const names = exchanges.map(({ name }) => name);
    expect([Object.keys(ours), Object.keys(theirs)]).toEqual([names, names]);
    expect(exchanges.flatMap(({ steps }) => steps).length).toBeGreaterThan(400);
  });

  it("differ where that is explained alone, and each explanation is of some", () => {
    expect(different.filter((name) => explanationOf(name) === undefined)).toEqual([]);
    const used = new Set(different.map(explanationOf));
    expect(explained.map(([subject]) => subject).filter((one) => !used.has(one))).toEqual([]);
  });

  it("have their differences in the table of docs/pusher.md", () => {
    const page = readFileSync(join(packageRoot, "docs/pusher.md"), "utf8");
    for (const [subject] of explained) expect(page).toContain(`\n| ${subject} | `);
  });
});
