import { describe, expect, it } from "vitest";
import {
  type ChannelOperation,
  type PublicationRequest,
  operationBytes,
} from "../../../src/contract/channel-call.ts";
import { json } from "../api/channel-config.ts";

function publish(more: Partial<PublicationRequest>): ChannelOperation {
  const none = { skipHistory: false, idempotencyKey: "", version: 0n, versionEpoch: "" };
  return { method: "publish", request: { data: json("1"), delta: false, ...none, ...more } };
}

const bare = operationBytes(publish({}));

describe("the size of a command", () => {
  it("[B1] counts everything of a publication that its sender chose", () => {
    const data = json(JSON.stringify("x".repeat(999)));
    expect(operationBytes(publish({ data }))).toBe(bare + data.length - 1);
    expect(operationBytes(publish({ tags: { name: "value", x: "" } }))).toBe(bare + 10);
    expect(operationBytes(publish({ idempotencyKey: "key" }))).toBe(bare + 3);
    expect(operationBytes(publish({ versionEpoch: "epoch" }))).toBe(bare + 5);
  });

  it("[B1] is never nothing", () => {
    expect(bare).toBe(257);
    expect(operationBytes({ method: "presence" })).toBe(256);
    const request = { limit: -1, reverse: false };
    expect(operationBytes({ method: "history", request })).toBe(256);
  });
});
