import { describe, expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { run } from "./run.ts";

/** Faults of cursors that the simulator found, each as the smallest plan that showed it. */
const found: readonly { readonly name: string; readonly plan: Plan }[] = [
  {
    name: "[CU45] who loads a page again isn't told of what the page had got before",
    plan: {
      seed: 950007372,
      faultShare: 0,
      channels: ["mark:a"],
      gateways: 1,
      clients: [
        { user: "user-2", own: "mark:a", reconnectsEarly: true, isPinged: true },
        { user: "user-2", reconnectsEarly: false, isPinged: true },
        { user: "user-1", reconnectsEarly: true, isPinged: true },
      ],
      steps: [
        { do: "connect", client: 2, ms: 50 },
        { do: "subscribe", client: 2, channel: "mark:a", ms: 343 },
        { do: "publish", channel: "mark:a", keyed: false, ms: 10000 },
        { do: "forget", client: 2, channel: "mark:a", ms: 0 },
        { do: "publish", channel: "mark:a", keyed: false, ms: 0 },
        { do: "subscribe", client: 2, channel: "mark:a", ms: 0 },
        { do: "publish", channel: "mark:a", keyed: false, ms: 8351 },
        { do: "forget", client: 2, channel: "mark:a", ms: 0 },
      ],
      hasHomes: true,
    },
  },
];

describe("a fault of cursors that the simulator found", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});
