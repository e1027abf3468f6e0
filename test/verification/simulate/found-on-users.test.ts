import { describe, expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { run } from "./run.ts";

/** Faults of homes of users that the simulator found, each as the smallest plan that showed it. */
const found: readonly { readonly name: string; readonly plan: Plan }[] = [
  {
    name: "[U41] an object that has said whom it holds registers those anew whom it only remembered",
    plan: {
      seed: 830017941,
      faultShare: 0,
      channels: ["keep:a"],
      gateways: 3,
      clients: [
        { reconnectsEarly: true, user: "user-72" },
        { own: "keep:a", reconnectsEarly: false, user: "user-72" },
      ],
      freshDatabases: true,
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "connect", client: 1, ms: 0 },
        { do: "subscribe", client: 0, channel: "keep:a", ms: 50 },
        { do: "crash at commit", object: "home 52", ms: 10000 },
        { do: "disconnect user", user: "user-72", returns: true, ms: 5182 },
        { do: "unsubscribe user", user: "user-72", channel: "keep:a", ms: 0 },
      ],
      hasHomes: true,
      outcomes: {
        "register keep:a home 52 1": { requestMs: 1, answerMs: 32, againMs: 867 },
        "ask g/2 keep:a 1": {},
        "register g/1 home 52 1": { requestMs: 33, errorMs: 254 },
        "register g/1 home 52 2": { errorMs: 401 },
      },
    },
  },
];

describe("a fault of homes that the simulator found", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});
