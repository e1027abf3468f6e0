import { describe, expect, it } from "vitest";
import { type ChannelCall, CallQueue, type ObjectCall } from "../../../src/api/calls.ts";
import type { ChannelOperation } from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import { json } from "./channel-config.ts";

function callTo(channel: string, command: ChannelOperation): ChannelCall {
  return { channel, commands: [command], entryIndexes: [0] };
}

function publication(characters: number): ChannelOperation {
  const data = json(JSON.stringify("x".repeat(characters)));
  const rest = { idempotencyKey: "", version: 0n, versionEpoch: "" };
  return { method: "publish", request: { data, skipHistory: false, delta: false, ...rest } };
}

const small = publication(10);
const half = publication(limits.requestBytesMax / 2 - 1_000);
const huge = publication(limits.requestBytesMax);

/** The channels of calls, written together. */
const named = (calls: readonly ObjectCall[]) =>
  calls.map((call) => ("channel" in call ? call.channel : "")).join("");
const manyCalls = (count: number) =>
  Array.from({ length: count }, (_, index) => callTo(String(index), small));

describe("the queue of a request's calls", () => {
  it("[B1] begins so many at a time, and the next one for each that ended", () => {
    const calls = manyCalls(limits.callsInFlightMax + 3);
    const queue = new CallQueue(calls);
    const first = queue.begin();
    expect(first).toStrictEqual(calls.slice(0, limits.callsInFlightMax));
    expect(queue.begin()).toStrictEqual([]);
    for (const call of first.slice(0, 2)) queue.ended(call);
    expect(queue.begin()).toStrictEqual(
      calls.slice(limits.callsInFlightMax, limits.callsInFlightMax + 2),
    );
  });

  it("[B1] begins no more at a time than a request may carry", () => {
    const calls = Array.from("abcde", (name) => callTo(name, half));
    const queue = new CallQueue(calls);
    const [a, b] = queue.begin();
    expect(named([a, b].flatMap((call) => call ?? []))).toBe("ab");
    expect(queue.begin()).toStrictEqual([]);
    if (b !== undefined) queue.ended(b);
    expect(named(queue.begin())).toBe("c");
  });

  it("[B1] counts tags as well", () => {
    if (half.method !== "publish") throw new Error("not a publication");
    const request = { ...half.request, tags: { t: "x".repeat(5_000) } };
    const queue = new CallQueue([callTo("a", { ...half, request }), callTo("b", half)]);
    expect(named(queue.begin())).toBe("a");
  });

  it("[B1] asks for eight large answers at a time", () => {
    const calls = Array.from("abcdefghi", (name) => callTo(name, { method: "presence" }));
    const queue = new CallQueue(calls);
    expect(named(queue.begin())).toBe("abcdefgh");
    queue.ended(callTo("a", { method: "presence" }));
    expect(named(queue.begin())).toBe("i");
  });

  it("[B1] begins a call that is too large for any company alone, and nothing beside it", () => {
    const [a, b, c] = [callTo("a", small), callTo("b", huge), callTo("c", small)];
    const queue = new CallQueue([a, b, c]);
    expect(named(queue.begin())).toBe("a");
    queue.ended(a);
    expect(named(queue.begin())).toBe("b");
    queue.ended(b);
    expect(named(queue.begin())).toBe("c");
  });

  it("[B1] begins nothing of nothing, and nothing twice", () => {
    expect(new CallQueue([]).begin()).toStrictEqual([]);
    const calls = manyCalls(2);
    const queue = new CallQueue(calls);
    for (const call of queue.begin()) queue.ended(call);
    expect(queue.begin()).toStrictEqual([]);
  });
});
