import { describe, expect, it } from "vitest";
import type { Plan } from "./plan.ts";
import { run } from "./run.ts";

/** Faults that the simulator found, each as the smallest plan that showed it. */
const found: readonly { readonly name: string; readonly plan: Plan }[] = [
  {
    name: "[O3] a client that was further on another gateway isn't taken back when what this one is missing can't be read",
    plan: {
      seed: 90803562,
      faultShare: 0,
      channels: ["few:b"],
      gateways: 3,
      clients: [
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { reconnectsEarly: true },
        { given: "few:b", reconnectsEarly: false },
      ],
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "connect", client: 1, ms: 0 },
        { do: "connect", client: 3, ms: 0 },
        { do: "subscribe", client: 0, channel: "few:b", ms: 50 },
        { do: "publish", channel: "few:b", keyed: false, ms: 50 },
        { do: "publish", channel: "few:b", keyed: true, ms: 0 },
        { do: "publish", channel: "few:b", keyed: true, ms: 0 },
        { do: "publish own", client: 1, channel: "few:b", ms: 0 },
        { do: "crash", object: "g3", ms: 0 },
        { do: "publish version", channel: "few:b", version: 9, ms: 0 },
      ],
      outcomes: { "deliver few:b g1 2": {} },
    },
  },
  {
    name: "[O3] nor when its history was removed meanwhile",
    plan: {
      seed: 14384866,
      faultShare: 0,
      channels: ["keep:a"],
      gateways: 2,
      clients: [{ reconnectsEarly: true }, { reconnectsEarly: false }, { reconnectsEarly: true }],
      steps: [
        { do: "connect", client: 1, ms: 0 },
        { do: "connect", client: 2, ms: 0 },
        { do: "subscribe", client: 1, channel: "keep:a", ms: 0 },
        { do: "subscribe", client: 2, channel: "keep:a", ms: 50 },
        { do: "publish own", client: 1, channel: "keep:a", ms: 0 },
        { do: "publish", channel: "keep:a", keyed: true, ms: 50 },
        { do: "remove", channel: "keep:a", ms: 0 },
        { do: "break", client: 2, ms: 0 },
      ],
      outcomes: { "deliver keep:a g2 2": { requestMs: 20605, answerMs: 37 } },
    },
  },
  {
    name: "[O3] nor where only the newest publication matters",
    plan: {
      seed: 79880648,
      faultShare: 0,
      channels: ["last:c"],
      gateways: 2,
      clients: [{ reconnectsEarly: true }, { reconnectsEarly: false }],
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "connect", client: 1, ms: 0 },
        { do: "subscribe", client: 0, channel: "last:c", ms: 48 },
        { do: "subscribe", client: 1, channel: "last:c", ms: 0 },
        { do: "publish own", client: 0, channel: "last:c", ms: 50 },
        { do: "close", object: "g2", ms: 0 },
      ],
      outcomes: { "deliver last:c g1 1": { requestMs: 1675, answerMs: 22 } },
    },
  },
  {
    name: "[R2] a client recovers although another instance of the channel object appears during its read",
    plan: {
      seed: 67643581,
      faultShare: 0,
      channels: ["keep:a", "few:b", "last:c", "none:d", "tell:e"],
      gateways: 3,
      clients: [
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { reconnectsEarly: true },
        { reconnectsEarly: false },
        { reconnectsEarly: true },
        { given: "last:c", reconnectsEarly: false },
      ],
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "subscribe", client: 0, channel: "none:d", ms: 50 },
        { do: "subscribe", client: 3, channel: "keep:a", ms: 0 },
        { do: "publish own", client: 0, channel: "keep:a", ms: 0 },
        { do: "connect", client: 3, ms: 10000 },
        { do: "crash", object: "g3", ms: 1705 },
        { do: "publish own", client: 0, channel: "keep:a", ms: 50 },
        { do: "crash", object: "keep:a", ms: 0 },
      ],
      outcomes: {
        "ask g1 none:d 1": { requestMs: 40 },
        "ask g1 keep:a 2": { requestMs: 27, answerMs: 8993 },
      },
    },
  },
  {
    name: "[R2] and although that instance publishes before the read is answered",
    plan: {
      seed: 77364689,
      faultShare: 0,
      channels: ["last:c", "tell:e"],
      gateways: 1,
      clients: [
        { given: "tell:e", reconnectsEarly: true },
        { own: "last:c", reconnectsEarly: false },
      ],
      steps: [
        { do: "connect", client: 0, ms: 50 },
        { do: "publish own", client: 0, channel: "tell:e", ms: 50 },
        { do: "break", client: 0, ms: 2286 },
        { do: "publish", channel: "tell:e", keyed: true, ms: 50 },
        { do: "evict", object: "tell:e", ms: 0 },
      ],
      outcomes: { "ask g1 tell:e 5": { requestMs: 23, answerMs: 7177 } },
    },
  },
  {
    name: "[O4] the reply to a publish doesn't overtake the push that ends the publisher's subscription",
    plan: {
      seed: 114,
      faultShare: 0,
      hasHomes: true,
      channels: ["tell:e"],
      gateways: 1,
      clients: [
        { own: "tell:e", reconnectsEarly: true, user: "user-1" },
        { reconnectsEarly: false, user: "user-1" },
        { given: "tell:e", reconnectsEarly: true, user: "user-1" },
        { reconnectsEarly: false, user: "user-1" },
      ],
      steps: [
        { do: "connect", client: 3, ms: 50 },
        { do: "subscribe user", user: "user-1", channel: "tell:e", only: 3, ms: 1_000 },
        { do: "publish own", client: 3, channel: "tell:e", ms: 0 },
        { do: "unsubscribe user", user: "user-1", channel: "tell:e", ms: 0 },
      ],
    },
  },
  {
    name: "[U5] an object isn't forgotten when connections that began meanwhile end last, and others stay",
    plan: {
      seed: 602381,
      faultShare: 0,
      channels: ["keep:a"],
      gateways: 2,
      limits: { recoveryMax: 20, queueBytesMax: 65536 },
      clients: [
        { reconnectsEarly: true, user: "user-1" },
        { given: "keep:a", reconnectsEarly: false, user: "user-1" },
        { reconnectsEarly: true, user: "user-1" },
        { reconnectsEarly: false, user: "user-1" },
      ],
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "connect", client: 2, ms: 50 },
        { do: "subscribe", client: 2, channel: "keep:a", ms: 0 },
        { do: "unsubscribe user", user: "user-1", channel: "keep:a", ms: 0 },
        { do: "subscribe user", user: "user-1", channel: "keep:a", only: 0, back: 1, ms: 0 },
        { do: "disconnect user", user: "user-1", returns: true, spares: 0, ms: 9369 },
        { do: "disconnect user", user: "user-1", returns: true, only: 0, ms: 0 },
      ],
      hasHomes: true,
      outcomes: {
        "carry out home 52 g1 2": { requestMs: 8326, answerMs: 37 },
        "carry out home 52 g1 3": { requestMs: 5004, answerMs: 24 },
        "ask g1 keep:a 2": { requestMs: 13, answerMs: 5312 },
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
];

describe("a fault that the simulator found", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});
