import { describe, expect, it } from "vitest";
import type { Cursor, SubscriptionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { Subscription } from "../../../src/session/subscription.ts";
import { Subscriptions } from "../../../src/session/subscriptions.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";

const nobody = {
  flushed: () => undefined,
  disconnect: () => undefined,
  insufficientState: () => undefined,
  changed: () => undefined,
  keep: () => false,
};

const nowhere = {
  send: () => undefined,
  close: () => undefined,
  save: () => undefined,
  backlogBytes: () => 0,
  lastHeardMs: () => undefined,
};

function grantedTo(channel: string, expireAtSeconds = 0): SubscriptionSnapshot {
  const flags = { present: false, announced: false, hearsJoinLeave: false };
  return { channel, expireAtSeconds, ...flags };
}

function subscriptionTo(
  channel: string,
  { cursor, expireAtSeconds }: { cursor?: Cursor; expireAtSeconds?: number } = {},
): Subscription {
  const info = { user: "42", client: "c1" };
  return new Subscription(
    info,
    grantedTo(channel, expireAtSeconds),
    jsonCodec,
    nowhere,
    nobody,
    cursor,
  );
}

/** Subscriptions to these, of which those with a `?` have not begun. */
function having(...names: readonly string[]): Subscriptions {
  const subscriptions = new Subscriptions();
  for (const name of names) {
    const channel = name.replace("?", "");
    subscriptions.add(subscriptionTo(channel), channel === name);
  }
  return subscriptions;
}

const cursor: Cursor = { instance: 2, sequence: 3, position: { epoch: "e", offset: 1 } };

describe("a session's subscriptions", () => {
  it("[G1] count as soon as they are asked for", () => {
    const subscriptions = having("a", "b?");
    expect(subscriptions.size).toBe(2);
    expect(subscriptions.has("b")).toBe(true);
    expect(subscriptions.has("c")).toBe(false);
    expect(subscriptions.all.map(({ channel }) => channel)).toStrictEqual(["a", "b"]);
    expect(subscriptions.granted).toStrictEqual([grantedTo("a"), grantedTo("b")]);
  });

  it("[S1] are remembered, and found, once they have begun", () => {
    const subscriptions = having("a", "b?");
    expect(subscriptions.list).toStrictEqual([grantedTo("a")]);
    expect(subscriptions.get("b")).toBeUndefined();
    subscriptions.begin("b");
    expect(subscriptions.list).toStrictEqual([grantedTo("a"), grantedTo("b")]);
    expect(subscriptions.get("b")?.channel).toBe("b");
  });

  it("[S1] are the same list until something changes, when they are many", () => {
    const many = having(...Array.from({ length: 100 }, (_, index) => `news${index}`));
    const { list } = many;
    many.keep("news7", cursor);
    expect(many.list).toBe(list);
    many.remove("news7");
    expect(many.list).toHaveLength(99);
    expect([many.has("news7"), many.get("news8")?.channel]).toEqual([false, "news8"]);
  });

  it("[S1] are told as they are after something changed", () => {
    const subscriptions = having("a", "b");
    subscriptions.replace(grantedTo("a", 9));
    expect(subscriptions.list).toStrictEqual([grantedTo("a", 9), grantedTo("b")]);
    subscriptions.remove("a");
    expect(subscriptions.list).toStrictEqual([grantedTo("b")]);
  });

  it("[G5] can't begin, or change, once they were left", () => {
    const subscriptions = having("a?");
    subscriptions.remove("a");
    subscriptions.begin("a");
    subscriptions.replace(grantedTo("a", 9));
    expect(subscriptions.list).toStrictEqual([]);
    expect(subscriptions.size).toBe(0);
  });

  it("[C5] end when the first of them does that has begun and ends at all", () => {
    const subscriptions = having("a");
    expect(subscriptions.expireAtSeconds).toBe(0);
    subscriptions.add(subscriptionTo("b", { expireAtSeconds: 30 }), true);
    subscriptions.add(subscriptionTo("c", { expireAtSeconds: 20 }), true);
    subscriptions.add(subscriptionTo("d", { expireAtSeconds: 10 }), false);
    expect(subscriptions.expireAtSeconds).toBe(20);
    subscriptions.remove("c");
    expect(subscriptions.expireAtSeconds).toBe(30);
  });

  it("[L7] keep the positions they slept with, and lose them with the subscription", () => {
    const subscriptions = new Subscriptions();
    subscriptions.add(subscriptionTo("a", { cursor }), true);
    subscriptions.add(subscriptionTo("b"), true);
    subscriptions.keep("b", { ...cursor, sequence: 9 });
    expect([...(subscriptions.cursors?.keys() ?? [])]).toStrictEqual(["a", "b"]);
    subscriptions.remove("a");
    expect([...(subscriptions.cursors ?? [])]).toStrictEqual([["b", { ...cursor, sequence: 9 }]]);
    subscriptions.clear();
    expect(subscriptions.cursors).toBeUndefined();
    expect(subscriptions.all).toStrictEqual([]);
  });
});
