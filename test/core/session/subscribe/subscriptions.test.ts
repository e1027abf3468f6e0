import { describe, expect, it } from "vitest";
import type { Cursor, SubscriptionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { Subscription } from "../../../../src/session/subscription.ts";
import { Subscriptions } from "../../../../src/session/subscriptions.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { unanswered } from "../test-connection.ts";

const nowhere = {
  send: () => undefined,
  close: () => undefined,
  save: () => undefined,
  backlogBytes: () => 0,
  answeredAtMs: () => undefined,
  lastHeardMs: () => undefined,
};

function grantedTo(channel: string, expireAtSeconds = 0): SubscriptionSnapshot {
  const flags = { present: false, announced: false, hearsJoinLeave: false };
  return { channel, expireAtSeconds, ...flags };
}

/** Subscriptions, as the session has them to which they belong. */
class OwnSubscriptions extends Subscriptions {
  /** One that is asked for, or has begun. */
  addOne(
    channel: string,
    { cursor, expireAtSeconds, begun = true }: Partial<SubscriptionSetup> = {},
  ): Subscription {
    const session = {
      disconnect: () => undefined,
      insufficientState: () => undefined,
      ...unanswered,
      hasRoomForCursor: () => true,
      save: () => undefined,
      subscriptionChanged: () => this.changed(),
    };
    const info = { user: "42", client: "c1" };
    const granted = grantedTo(channel, expireAtSeconds);
    const subscription = new Subscription(info, granted, jsonCodec, nowhere, session, { cursor });
    this.add(subscription);
    if (begun) subscription.begin();
    return subscription;
  }
}

interface SubscriptionSetup {
  readonly cursor: Cursor;
  readonly expireAtSeconds: number;
  readonly begun: boolean;
}

/** Subscriptions to these, of which those with a `?` have not begun. */
function having(...names: readonly string[]): OwnSubscriptions {
  const subscriptions = new OwnSubscriptions();
  for (const name of names) {
    const channel = name.replace("?", "");
    subscriptions.addOne(channel, { begun: channel === name });
  }
  return subscriptions;
}

const cursor: Cursor = { instance: 2, sequence: 3, position: { epoch: "e", offset: 1 } };

describe("a session's subscriptions", () => {
  it("[S1] are the same list until something changes, when they are many", () => {
    const many = having(...Array.from({ length: 100 }, (_, index) => `news${index}`));
    const { begunSnapshots } = many;
    many.get("news7")?.keep(cursor);
    expect(many.begunSnapshots).toBe(begunSnapshots);
    many.remove("news7");
    expect(many.begunSnapshots).toHaveLength(99);
    expect([many.has("news7"), many.get("news8")?.channel]).toEqual([false, "news8"]);
  });

  it("[Q3] count a channel about which a backend is asked, until its place is given up", () => {
    const subscriptions = having("a");
    subscriptions.reserve("b");
    expect([subscriptions.size, subscriptions.has("b")]).toStrictEqual([2, true]);
    expect(subscriptions.get("b")).toBeUndefined();
    expect(subscriptions.all).toHaveLength(1);
    subscriptions.release("b");
    expect([subscriptions.size, subscriptions.has("b")]).toStrictEqual([1, false]);
    subscriptions.reserve("c");
    subscriptions.clear();
    expect(subscriptions.size).toBe(0);
  });

  it("[L7] keep their cursors across hibernation, and lose them with the subscription", () => {
    const subscriptions = new OwnSubscriptions();
    subscriptions.addOne("a", { cursor });
    subscriptions.addOne("b").keep({ ...cursor, sequence: 9 });
    expect(subscriptions.cursorCount).toBe(2);
    expect([...(subscriptions.cursors?.keys() ?? [])]).toStrictEqual(["a", "b"]);
    subscriptions.remove("a");
    expect([...(subscriptions.cursors ?? [])]).toStrictEqual([["b", { ...cursor, sequence: 9 }]]);
    subscriptions.clear();
    expect(subscriptions.cursors).toBeUndefined();
    expect(subscriptions.all).toStrictEqual([]);
  });
});
