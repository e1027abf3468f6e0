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
  {
    name: "[Z5] changes of a map that is cleared aren't taken for those of the next stream",
    plan: {
      seed: 5837,
      faultShare: 0,
      channels: ["map:m", "temp:t"],
      gateways: 2,
      clients: [
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { reconnectsEarly: true },
        { reconnectsEarly: false },
      ],
      steps: [
        { do: "connect", client: 2, ms: 0 },
        { do: "subscribe", client: 2, channel: "temp:t", ms: 50 },
        { do: "set", channel: "temp:t", key: "k2", keyed: false, mode: "if_new", ms: 0 },
        { do: "clear", channel: "temp:t", ms: 0 },
      ],
      outcomes: {},
    },
  },
  {
    name: "[Z2] a client of a map begins no earlier than as of when its last page was read",
    plan: {
      seed: 310579,
      faultShare: 0,
      channels: ["map:m"],
      gateways: 1,
      clients: [
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { reconnectsEarly: true },
        { reconnectsEarly: false },
      ],
      steps: [
        { do: "connect", client: 1, ms: 0 },
        { do: "connect", client: 2, ms: 0 },
        { do: "connect", client: 3, ms: 0 },
        { do: "set", channel: "map:m", key: "k1", keyed: false, ms: 0 },
        { do: "set", channel: "map:m", key: "k2", keyed: false, ms: 0 },
        { do: "set", channel: "map:m", key: "k6", keyed: false, ms: 0 },
        { do: "subscribe", client: 1, channel: "map:m", ms: 107 },
        { do: "subscribe", client: 3, channel: "map:m", ms: 50 },
        { do: "drop", channel: "map:m", key: "k6", keyed: true, ms: 0 },
      ],
    },
  },
  {
    name: "[Z5] a client of a cleared map gets no change of the stream before, whose first change was lost in a crash",
    plan: {
      seed: 110001615,
      faultShare: 0,
      channels: ["slim:s"],
      gateways: 1,
      clients: [{ reconnectsEarly: true }, { reconnectsEarly: false }],
      steps: [
        { do: "connect", client: 1, ms: 0 },
        { do: "subscribe", client: 1, channel: "slim:s", ms: 1000 },
        { do: "drop", channel: "slim:s", key: "k1", keyed: false, ms: 0 },
        { do: "crash at commit", object: "slim:s", ms: 0 },
        { do: "cut", object: "slim:s", kind: "deliver", to: "g/1", forMs: 5910, ms: 0 },
        { do: "set", channel: "slim:s", key: "k3", keyed: true, ms: 0 },
        { do: "set", channel: "slim:s", key: "k4", keyed: false, mode: "if_new", ms: 1000 },
        { do: "clear", channel: "slim:s", ms: 58 },
        {
          do: "set",
          channel: "slim:s",
          key: "k5",
          keyed: true,
          expects: "known",
          mode: "if_new",
          ms: 21,
        },
        { do: "set", channel: "slim:s", key: "k4", keyed: false, ms: 0 },
      ],
      outcomes: {
        "api backend slim:s 3": { requestMs: 25, answerMs: 6 },
        "api backend slim:s 5": { requestMs: 223, answerMs: 30 },
        "api backend slim:s 7": { requestMs: 147, answerMs: 28 },
      },
    },
  },
  {
    name: "[Z30] a subscriber of an ephemeral map that never had a key loses nothing when its object sleeps",
    plan: {
      seed: 602038878,
      faultShare: 0,
      channels: ["temp:t"],
      gateways: 1,
      clients: [{ reconnectsEarly: true }, { reconnectsEarly: true }, { reconnectsEarly: true }],
      steps: [
        { do: "connect", client: 2, ms: 0 },
        { do: "subscribe", client: 2, channel: "temp:t", ms: 1000 },
        { do: "evict", object: "temp:t", ms: 735748 },
      ],
    },
  },
  {
    name: "[L3] a client that is further than its gateway waits for the batch on its way",
    plan: {
      seed: 940020077,
      faultShare: 0,
      channels: ["slim:s"],
      gateways: 2,
      clients: [
        { reconnectsEarly: true },
        { own: "slim:s", reconnectsEarly: false },
        { reconnectsEarly: true },
        { reconnectsEarly: false },
      ],
      freshDatabases: true,
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "connect", client: 3, ms: 0 },
        { do: "subscribe", client: 0, channel: "slim:s", ms: 1000 },
        { do: "set", channel: "slim:s", key: "wave", keyed: false, ms: 0 },
        { do: "set", channel: "slim:s", key: "wave", keyed: false, ms: 0 },
        { do: "set", channel: "slim:s", key: "wave", keyed: false, ms: 0 },
        { do: "set", channel: "slim:s", key: "wave", keyed: false, ms: 0 },
        { do: "set", channel: "slim:s", key: "wave", keyed: false, ms: 0 },
        { do: "set", channel: "slim:s", key: "wave", keyed: false, ms: 0 },
        {
          do: "wave",
          channel: "slim:s",
          arrivals: 9,
          own: false,
          returns: false,
          endAfterMs: 122,
          ms: 0,
        },
      ],
    },
  },
];

describe("a fault that the simulator found", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});
