import { describe, expect, it } from "vitest";
import { complaintsOf } from "./checker.ts";
import { troubledWorld } from "./happenings.ts";

const first = Number(process.env["WORLD_FIRST"] ?? 1);
const count = Number(process.env["WORLD_COUNT"] ?? 300);

describe("a world in trouble", () => {
  it("[L1] loses nothing", () => {
    const failures: string[] = [];
    for (let seed = first; seed < first + count; seed++) {
      let complaints: readonly string[];
      try { complaints = complaintsOf(troubledWorld(seed)); } catch (error) { complaints = [String(error instanceof Error ? error.stack : error)]; }
      if (complaints.length > 0) failures.push(`seed ${seed}: ${complaints.slice(0, 4).join(" | ")}`);
    }
    console.log(`${failures.length} of ${count} fail\n${failures.slice(0, 25).join("\n")}`);
    expect(failures).toEqual([]);
  }, 600_000);
});
