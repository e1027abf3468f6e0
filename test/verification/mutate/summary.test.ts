import { describe, expect, it } from "vitest";
import { filesFor } from "./judge.ts";
import { parseOptions } from "./options.ts";
import { placesIn } from "./places.ts";
import type { MutantRecord, Verdict } from "./record.ts";
import type { FileRun } from "./runner-process.ts";
import { lost, summary } from "./summary.ts";

const places = placesIn("src/hub/hub.ts", "if (one < 2) go();");

const noticed: Verdict = { outcome: "noticed", file: "a.test.ts", test: "goes", message: "" };
const survived: Verdict = { outcome: "survived", files: 3 };

const withVerdicts = (...verdicts: readonly Omit<MutantRecord, "place">[]) =>
  places.map((place, index) => ({ place, ...verdicts[index] }));

describe("what a run says", () => {
  it("is which level noticed how many, and what nothing noticed", () => {
    const mutants = withVerdicts({ core: noticed }, { core: survived, workers: noticed }, {});
    const lines = summary({ seed: 1, reached: {}, mutants });
    expect(lines).toContain(
      "2 of 3 (66.7 %) of the mutants are noticed; no test comes to 1 of them",
    );
    expect(lines).toContain("core notices 1");
    expect(lines).toContain("workers notices 1 that core doesn't");
    expect(lines.at(-1)).toBe("  src/hub/hub.ts:1 left out: go()");
  });

  it("names the test that noticed before what nothing notices now", () => {
    const before = withVerdicts({ core: noticed }, { workers: noticed }, { core: noticed });
    const mutants = withVerdicts({ core: survived }, { workers: noticed }, { core: noticed });
    const gone = lost(before, { seed: 1, reached: {}, mutants });
    expect(gone).toHaveLength(2);
    expect(gone[1]).toContain("was noticed by a.test.ts: goes");
  });
});

const run = (file: string, tookMs: number, more: Partial<FileRun> = {}): FileRun => ({
  file,
  tookMs,
  failures: [],
  visits: [[0, 1]],
  ...more,
});

describe("the tests that are tried", () => {
  it("are those that come to the mutant, the near and quick ones first", () => {
    const [place] = places;
    if (place === undefined) throw new Error("there is no place");
    const reached = [
      run("core/session/connect.test.ts", 900),
      run("core/hub/hub.test.ts", 2_000),
      run("core/hub/slices.test.ts", 500),
      run("core/hub/elsewhere.test.ts", 500, { visits: [[1, 1]] }),
      run("core/hub/red.test.ts", 500, { failures: [{ test: "", message: "" }] }),
      run("simulate/world.test.ts", 90_000),
    ];
    const files = (share: "quick" | "slow") =>
      filesFor({ id: 0, place }, reached, share).map(({ file }) => file);
    expect(files("quick")).toEqual([
      "core/hub/hub.test.ts",
      "core/hub/slices.test.ts",
      "core/session/connect.test.ts",
    ]);
    expect(files("slow")).toEqual(["simulate/world.test.ts"]);
  });
});

describe("the command line", () => {
  it("takes numbers, a level and files, and refuses anything else", () => {
    expect(parseOptions(["--count", "20", "--level", "core", "--again", "x"])).toMatchObject({
      options: { seed: 1, count: 20, levels: ["core"], again: "x" },
    });
    expect(parseOptions(["--help"])).toEqual({ outcome: "help" });
    expect(parseOptions(["--count", "some"])).toMatchObject({
      problem: expect.stringContaining("whole number"),
    });
    expect(parseOptions(["--level", "clients"])).toMatchObject({ outcome: "bad" });
    expect(parseOptions(["--fast"])).toMatchObject({ outcome: "bad" });
  });
});
