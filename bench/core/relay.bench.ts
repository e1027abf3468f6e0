import { expect, test } from "vitest";
import type { RelayBatch } from "../../src/contract/relay-batch.ts";
import { BatchTrail } from "../../src/features/why/batch-trail.ts";
import { Follower } from "../../src/gateway/follower.ts";
import { SubscriptionMemory } from "../../src/gateway/memory.ts";
import { jsonCodec } from "../../src/protocol/json/codec.ts";
import { Subscription } from "../../src/session/subscription.ts";
import { configured } from "../../test/support/configured.ts";
import { payload } from "./payload.ts";

const dropping = {
  send: () => undefined,
  close: () => undefined,
  save: () => undefined,
  backlogBytes: () => 0,
  answeredAtMs: () => undefined,
  lastHeardMs: () => undefined,
};

const session = {
  disconnect: () => undefined,
  insufficientState: () => {
    throw new Error("A subscriber missed publications");
  },
  subscriptionChanged: () => undefined,
  save: () => undefined,
  hasRoomForCursor: () => true,
  identity: { phase: "connected", client: "c", openedAtMs: 0, keepalive: "server" } as const,
  answeredAtMs: undefined,
};

const clock = { nowMs: () => Date.now() };

/** A follower with so many subscribers. */
function followed(subscriberCount: number): Follower {
  const follower = new Follower("news", {
    client: configured().client,
    memory: new SubscriptionMemory(),
    request: (_, requests) => {
      const position = { epoch: "e", offset: 0 };
      for (const { done } of requests) {
        done({ outcome: "following", instance: 1, sequence: 0, position });
      }
    },
    changed: () => undefined,
    batches: new BatchTrail(clock),
  });
  const flags = { present: false, announced: false, hearsJoinLeave: false };
  const granted = { channel: "news", expireAtSeconds: 0, ...flags };
  const options = { positioned: true, mode: "stream", orFail: false } as const;
  for (let count = 0; count < subscriberCount; count++) {
    const info = { user: "42", client: `${count}` };
    const subscription = new Subscription(info, granted, jsonCodec, dropping, session);
    follower.subscribe(subscription, options, 0, () => undefined);
  }
  return follower;
}

/** Takes batches of so many publications, each at a later moment, so that no publication is collected. */
function taking(follower: Follower, entryCount: number): () => void {
  let offset = 0;
  let nowMs = 0;
  return () => {
    const first = offset + 1;
    const entries = Array.from({ length: entryCount }, () => {
      offset++;
      return { type: "publication", publication: { data: payload, offset } } as const;
    });
    nowMs += 1_000;
    const top = { epoch: "e", offset };
    const batch: RelayBatch = {
      v: 1,
      channel: "news",
      instance: 1,
      first,
      entries,
      certain: true,
      top,
    };
    if (follower.receive(batch, nowMs).outcome !== "taken")
      throw new Error("The batch was not taken");
    follower.settle(nowMs);
  };
}

test("a batch goes through a gateway's follower to its subscribers", async ({ bench }) => {
  const results = await bench.compare(
    bench("1 publication, 1 subscriber", taking(followed(1), 1)),
    bench("1 publication, 1,000 subscribers", taking(followed(1_000), 1)),
    bench("64 publications, 1,000 subscribers", taking(followed(1_000), 64)),
  );
  expect(results.get("1 publication, 1 subscriber").latency.mean).toBeGreaterThan(0);
});
