import { describe, expect, it } from "vitest";
import { checkPlan, type ClientsPlan, type SubscriberPlan } from "./plan.ts";

describe("a plan", () => {
  it("with one channel for each channel socket, and several for a gateway, can be carried out", () => {
    expect(() =>
      checkPlan(planOf({}, { process: "b", endpoint: "gateway", channels: both })),
    ).not.toThrow();
  });

  it("with clients of texts says nothing of what their maps recover", () => {
    expect(() => checkPlan(planOf({ kind: "text", channels: ["t"], deltas: true }))).not.toThrow();
  });

  it.each([
    ["its name is another one's too", [{}, {}]],
    ["a full stop ends a value", [{ process: "a.b" }]],
    ["it has no channel", [{ channels: [] }]],
    ["it names a channel twice", [{ endpoint: "gateway", channels: ["keep:a", "keep:a"] }]],
    ["its socket is for one channel", [{ channels: both }]],
    ["it publishes where it isn't subscribed", [{ publishes: { channel: "b", everyMs: 1 } }]],
    ["only raw ones on a gateway are given channels", [{ given: true }]],
    ["those of pusher-js are on gateways, and only listen", [{ kind: "pusher" }]],
    ["orders are given for raw ones only", [{ kind: "sdk", user: "ada" }]],
    ["only users' connections on a gateway", [{ user: "ada", orderable: ["none:a"] }]],
    [
      "a backend is asked about raw ones only",
      [{ user: "ada", asked: { connects: true, callsEveryMs: 1 } }],
    ],
    [
      "it subscribes by itself where orders do",
      [{ user: "ada", endpoint: "gateway", orderable: ["keep:a"] }],
    ],
    ["readers read, and nobody else", [{ reads: { user: "ada" } }]],
    ["readers read, and nobody else", [{ kind: "reader" }]],
    ["only readers on a gateway follow receipts", [{ follows: [] }]],
    [
      "it follows the receipts of a channel to which it doesn't",
      [{ ...reader, follows: [{ channel: "none:a", receipts: "seen:none:a" }] }],
    ],
    ["only clients of texts and of changes have deltas", [{ kind: "map", deltas: true }]],
    ["nothing is said of what keep:x recovers", [{ channels: ["keep:x"] }]],
  ] satisfies [string, Partial<SubscriberPlan>[]][])("is refused when %s", (why, subscribers) => {
    expect(() => checkPlan(planOf(...subscribers))).toThrow(why);
  });
});

const reader = { kind: "reader", endpoint: "gateway", reads: { user: "ada" } } as const;
const both = ["keep:a", "none:a"];

function planOf(...subscribers: readonly Partial<SubscriberPlan>[]): ClientsPlan {
  const sound = { process: "a", kind: "raw", endpoint: "channel", channels: ["keep:a"] } as const;
  return {
    historyFile: "",
    address: "http://127.0.0.1:1",
    tokenSecret: "",
    pingIntervalMs: 2_000,
    seed: 1,
    recovers: { "keep:a": "stream", "none:a": "none" },
    subscribers: subscribers.map((traits) => Object.assign({}, sound, traits)),
  };
}
