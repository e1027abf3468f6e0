import { describe, expect, it } from "vitest";
import type { CallOutcome } from "./network.ts";
import { type Plan, planOf } from "./plan.ts";
import { shrink, type Tried } from "./shrink.ts";

const hasCrashAfterRemoval = ({ steps }: Plan): boolean => {
  const removed = steps.findIndex((step) => step.do === "remove");
  return removed >= 0 && steps.slice(removed).some((step) => step.do === "crash");
};

const twelve: ReadonlyMap<string, CallOutcome> = new Map(
  Array.from({ length: 12 }, (_, index) => [`ask g/1 few:b ${index + 1}`, { requestMs: index }]),
);

const hasTwoFaultyCalls = ({ outcomes }: Plan): boolean =>
  outcomes === undefined ||
  (outcomes["ask g/1 few:b 3"]?.requestMs === 2 && outcomes["ask g/1 few:b 9"]?.requestMs === 8);

const tried =
  (fails: (plan: Plan) => boolean) =>
  (plan: Plan): Tried => ({ fails: fails(plan), outcomes: twelve });

describe("shrinking", () => {
  it("keeps only the steps that the plan needs to fail", () => {
    const plan = Array.from({ length: 300 }, (_, seed) => planOf(seed)).find(hasCrashAfterRemoval);
    if (plan === undefined) throw new Error("no such plan");
    const smallest = shrink(plan, tried(hasCrashAfterRemoval));
    expect(smallest.steps.map((step) => step.do)).toEqual(["remove", "crash"]);
    expect(smallest.steps.map(({ ms }) => ms)).toEqual([0, 0]);
    expect(smallest).toMatchObject({ faultShare: 0, gateways: 1, seed: plan.seed });
  });

  it("keeps only the call faults that the plan needs to fail", () => {
    const smallest = shrink({ ...planOf(1), faultShare: 0.2 }, tried(hasTwoFaultyCalls));
    expect(smallest.outcomes).toEqual({
      "ask g/1 few:b 3": { requestMs: 2 },
      "ask g/1 few:b 9": { requestMs: 8 },
    });
  });

  it("gives up after so many runs", () => {
    let runs = 0;
    shrink(
      planOf(2),
      () => {
        runs++;
        return { fails: true, outcomes: new Map() };
      },
      10,
    );
    expect(runs).toBe(10);
  });
});
