import { describe, expect, it } from "vitest";
import { parseOptions, usage } from "./simulate-options.ts";

describe("the options of npm run simulate", () => {
  it("are sensible when none are given", () => {
    expect(parseOptions([])).toEqual({
      outcome: "options",
      options: {
        first: 1,
        seeds: 10_000,
        seconds: Number.POSITIVE_INFINITY,
        seed: undefined,
        shrink: false,
      },
    });
  });

  it("set the number of seeds, the first one, the time, and whether to shrink", () => {
    const args = ["--seconds", "60", "--first", "5", "--shrink"];
    expect(parseOptions(args)).toMatchObject({
      options: { first: 5, seeds: Number.POSITIVE_INFINITY, seconds: 60, shrink: true },
    });
    expect(parseOptions(["--seeds", "7"])).toMatchObject({ options: { seeds: 7 } });
    expect(parseOptions(["--seed", "9"])).toMatchObject({ options: { seed: 9 } });
    expect(parseOptions(["--without", "order-numbers"])).toMatchObject({
      options: { without: { name: "order-numbers" } },
    });
  });

  it("have a help text that names all of them", () => {
    expect(parseOptions(["--seed", "x", "--help"])).toEqual({ outcome: "help" });
    for (const name of ["--seeds", "--first", "--seconds", "--seed", "--shrink", "--without"])
      expect(usage).toContain(`  ${name} `);
  });

  it.each([
    { args: ["--sedes", "3"], named: "--sedes" },
    { args: ["--seeds"], named: "--seeds" },
    { args: ["--first", "-1"], named: "--first" },
    { args: ["--seconds", "1.5"], named: "--seconds" },
    { args: ["--seed", "x"], named: "--seed" },
    { args: ["--without", "luck"], named: '"luck"; there are' },
    { args: ["12"], named: "12" },
  ])("are refused by name: $args", ({ args, named }) => {
    const parsed = parseOptions(args);
    expect(parsed.outcome).toBe("bad");
    expect(parsed).toHaveProperty("problem", expect.stringContaining(named));
  });
});
