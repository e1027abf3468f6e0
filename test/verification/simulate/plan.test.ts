import { describe, expect, it } from "vitest";
import { actionKinds } from "./actions.ts";
import { isBank } from "./bank/bank-kinds.ts";
import { isChanging } from "./changes/change-kinds.ts";
import { hasAudience, hasCursors } from "./cursor-kinds.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { type Plan, planOf } from "./plan.ts";

const plans = Array.from({ length: 3_000 }, (_, index) => planOf(index + 1));

describe("the plans of seeds", () => {
  it("have steps of each kind", () => {
    const planned = new Set<string>(plans.flatMap(({ steps }) => steps.map((step) => step.do)));
    expect(actionKinds.filter((kind) => !planned.has(kind))).toEqual([]);
  });

  it.each<[string, number, (plan: Plan) => boolean]>([
    ["homes", 1_350, ({ hasHomes }) => hasHomes === true],
    ["marks", 250, ({ channels }) => channels.some(hasCursors)],
    ["marks and homes", 105, (plan) => plan.channels.some(hasCursors) && plan.hasHomes === true],
    ["clients of the Pusher protocol", 220, (plan) => plan.pusherClients !== undefined],
    ["banks", 240, ({ channels }) => channels.some(isBank)],
    ["changes", 178, ({ channels }) => channels.some(isChanging)],
    ["audiences", 95, ({ channels }) => channels.some(hasAudience)],
    [
      "values that grow",
      220,
      ({ channels }) => channels.some((name) => growthKindOf(name) !== undefined),
    ],
  ])("have %s in about %d of 3,000", (_, usual, has) => {
    const count = plans.filter(has).length;
    expect(count).toBeGreaterThan(usual * 0.7);
    expect(count).toBeLessThan(usual * 1.3);
  });

  it("are plain data", () => {
    for (const plan of plans.slice(0, 100)) expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });
});
