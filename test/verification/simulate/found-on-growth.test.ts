import { describe, expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { run } from "./run.ts";

/** Faults that the simulator found in values that grow, each as the smallest plan that showed it. */
const found: readonly { readonly name: string; readonly plan: Plan }[] = [
  {
    name: "[Z39] a client that comes back with pieces of a window is sent no delta of the value without them",
    plan: {
      seed: 1708,
      faultShare: 0,
      channels: ["long:l"],
      gateways: 1,
      clients: [{ own: "long:l", reconnectsEarly: true }, { reconnectsEarly: false }],
      steps: [
        { do: "append", channel: "long:l", key: "k1", pieces: 1, blocks: 1, ms: 0 },
        { do: "append", channel: "long:l", key: "k1", pieces: 1, blocks: 1, ms: 0 },
        {
          do: "wave",
          channel: "long:l",
          arrivals: 4,
          own: true,
          returns: true,
          endAfterMs: 329,
          ms: 0,
        },
      ],
      outcomes: {},
    },
  },
  {
    name: "[Z39] a gateway doesn't tell pieces late of which it has read the value",
    plan: {
      seed: 3942,
      faultShare: 0,
      channels: ["long:l"],
      gateways: 2,
      clients: [
        { reconnectsEarly: true, user: "user-1" },
        { reconnectsEarly: false, user: "user-1" },
        { reconnectsEarly: true, user: "user-1" },
        { reconnectsEarly: false, user: "user-1" },
      ],
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "subscribe", client: 0, channel: "long:l", ms: 0 },
        { do: "append", channel: "long:l", key: "k1", pieces: 6, blocks: 1, ms: 10000 },
        { do: "append", channel: "long:l", key: "k1", pieces: 6, blocks: 7, ms: 297 },
        { do: "wave", channel: "long:l", arrivals: 8, own: false, returns: true, ms: 50 },
      ],
      hasHomes: true,
      outcomes: {
        "api backend long:l 3": { requestMs: 27, answerMs: 13 },
        "register g/2 home 49 1": { requestMs: 36, answerMs: 11113 },
        "deliver long:l g/2 11": {},
      },
    },
  },
  {
    name: "[Z41] an object that sleeps after a value that grew was removed has lost no window",
    plan: {
      seed: 1009553,
      faultShare: 0,
      channels: ["long:l", "sure:s"],
      gateways: 1,
      clients: [
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { own: "sure:s", reconnectsEarly: true },
        { reconnectsEarly: false },
      ],
      steps: [
        { do: "append", channel: "long:l", key: "k3", pieces: 6, blocks: 6, ms: 430 },
        { do: "remove text", channel: "long:l", key: "k3", ms: 0 },
      ],
      outcomes: {},
    },
  },
  {
    name: "[Z39] a client without deltas is told of another epoch although the first change is outgrown",
    plan: {
      seed: 960006369,
      faultShare: 0,
      channels: ["sure:s"],
      gateways: 2,
      clients: [
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { reconnectsEarly: true },
        { reconnectsEarly: false },
      ],
      steps: [
        { do: "connect", client: 2, ms: 0 },
        { do: "subscribe", client: 2, channel: "sure:s", ms: 50 },
        { do: "forget texts", channel: "sure:s", ms: 0 },
        {
          do: "append",
          channel: "sure:s",
          key: "k2",
          pieces: 4,
          blocks: 1,
          repeats: true,
          ms: 50,
        },
      ],
      outcomes: { "deliver sure:s g/2 1": {} },
    },
  },
];

describe("a fault that the simulator found", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});
