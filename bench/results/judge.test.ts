import { describe, expect, it } from "vitest";
import { figuresLine, type Goal, judge } from "./judge.ts";
import type { ScenarioResult } from "./results.ts";
import type { Finding } from "../scenarios/scenario.ts";
import { finding } from "./finding.ts";

const goal: Goal = {
  part: "a",
  sentence: "at least 0.85 of the limit program",
  computed: "medians by medians",
  bound: { is: "at least", value: 0.85 },
  figures: (found) => found.ratios("fan-out", "deliveries a second", ["channel"], ["limit"]),
};

function judged(findings: readonly Finding[], given: Goal = goal) {
  const scenario: ScenarioResult = { name: "fan-out", question: "How many?", findings };
  const [target] = judge([given], [scenario]);
  if (target === undefined) throw new Error("No target for the goal");
  return target;
}

const limit = finding("limit", [100]);

describe("the outcome of a target", () => {
  it("is reached when each figure is within the bound", () => {
    const target = judged([finding("channel", [85]), limit]);
    expect(target.outcome).toBe("reached");
    expect(target.figures).toEqual([{ name: "4 publishers", value: 0.85 }]);
  });

  it("is missed when one figure isn't, and names that figure", () => {
    const at64 = { point: "64 publishers" };
    const target = judged([
      finding("channel", [90]),
      limit,
      finding("channel", [80], at64),
      finding("limit", [100], at64),
    ]);
    expect(target.outcome).toBe("missed");
    expect(figuresLine(target)).toBe("4 publishers 0.90, 64 publishers 0.80 (!)");
  });

  it("is neither without a measurement", () => {
    expect(judged([finding("channel", [90])]).outcome).toBe("not measured");
    expect(judge([goal], [])[0]?.outcome).toBe("not measured");
  });

  it.each([
    { is: "at most", value: 1, reached: [1, 0.5], missed: [1.01] },
    { is: "above", value: 1, reached: [1.01], missed: [1, 0.9] },
    { is: "at least", value: 1, reached: [1], missed: [0.99] },
  ] as const)("applies the bound $is $value", ({ is, value, reached, missed }) => {
    const outcomeOf = (figure: number) =>
      judged([], { ...goal, bound: { is, value }, figures: () => [{ name: "x", value: figure }] })
        .outcome;
    expect(reached.map(outcomeOf)).toEqual(reached.map(() => "reached"));
    expect(missed.map(outcomeOf)).toEqual(missed.map(() => "missed"));
  });

  it("uses only the figures of its scenario and measure", () => {
    const findings = [finding("channel", [90]), limit];
    const elsewhere: ScenarioResult = { name: "channels", question: "How many?", findings };
    expect(judge([goal], [elsewhere])[0]?.outcome).toBe("not measured");
    const measure = "frames a second";
    const others = [finding("channel", [90], { measure }), finding("limit", [100], { measure })];
    expect(judged(others).outcome).toBe("not measured");
  });

  it("names the system if there are several", () => {
    const target = judged([finding("channel", [90]), finding("gateway", [95]), limit], {
      ...goal,
      figures: (found) =>
        found.ratios("fan-out", "deliveries a second", ["channel", "gateway"], ["limit"]),
    });
    expect(figuresLine(target)).toBe("channel at 4 publishers 0.90, gateway at 4 publishers 0.95");
  });
});
