import { describe, expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { run } from "./run.ts";

/** Faults that the simulator found, each as the smallest plan that showed it. */
const found: readonly { readonly name: string; readonly plan: Plan }[] = [
  {
    name: "[Z5] a late batch of an earlier instance brings nothing of the stream that a map had before it was cleared",
    plan: {
      seed: 760014660,
      faultShare: 0,
      channels: ["map:m"],
      gateways: 3,
      clients: [
        { own: "map:m", reconnectsEarly: true, user: "user-72" },
        { own: "map:m", reconnectsEarly: false, user: "user-1" },
        { reconnectsEarly: true, user: "user-72" },
        { reconnectsEarly: false, user: "user-72" },
      ],
      steps: [
        { do: "connect", client: 3, ms: 0 },
        { do: "set", channel: "map:m", key: "k2", keyed: false, ms: 0 },
        { do: "set", channel: "map:m", key: "k3", keyed: false, ms: 0 },
        { do: "set", channel: "map:m", key: "k4", keyed: false, ms: 0 },
        { do: "set", channel: "map:m", key: "k5", keyed: false, ms: 0 },
        { do: "set", channel: "map:m", key: "k6", keyed: false, ms: 0 },
        { do: "subscribe", client: 3, channel: "map:m", ms: 9555 },
        { do: "clear", channel: "map:m", ms: 16591 },
        { do: "fail", object: "map:m", writes: 2, ms: 0 },
        { do: "set", channel: "map:m", key: "k4", keyed: true, ms: 50 },
      ],
      hasHomes: true,
      outcomes: {
        "api backend map:m 2": { requestMs: 1993, answerMs: 4 },
        "api backend map:m 3": { requestMs: 24256, answerMs: 398 },
        "api backend map:m 4": { requestMs: 3555, answerMs: 30 },
        "api backend map:m 5": { requestMs: 370, answerMs: 12 },
        "deliver map:m g/2 2": { requestMs: 31, answerMs: 16437 },
        "deliver map:m g/2 3": { requestMs: 24642, answerMs: 33 },
        "api backend map:m 7": { requestMs: 1 },
      },
    },
  },
  {
    name: "[Z23] a census finds a client gone whose connection the server has closed, before the client knows it",
    plan: {
      seed: 760008049,
      faultShare: 0,
      channels: ["room:r", "clients:room:r", "users:room:r"],
      gateways: 1,
      clients: [
        { user: "ada", reconnectsEarly: true },
        { user: "ada", given: "room:r", reconnectsEarly: false },
        { user: "ada", reconnectsEarly: true },
      ],
      steps: [
        { do: "connect", client: 1, ms: 0 },
        { do: "subscribe", client: 1, channel: "clients:room:r", ms: 50 },
        { do: "publish", channel: "room:r", keyed: false, ms: 0 },
        { do: "leave", client: 1, channel: "clients:room:r", ms: 10000 },
      ],
      presenceFaults: "counts",
      outcomes: {
        "ask g/1 room:r 2": { requestMs: 26, answerMs: 18 },
        "count clients:room:r room:r 1": { requestMs: 21, answerMs: 18365 },
        "count clients:room:r room:r 2": { requestMs: 1836, answerMs: 11 },
        "ask g/1 room:r 3": { requestMs: 231, answerMs: 18 },
      },
    },
  },
];

describe("a fault that the simulator found", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});
