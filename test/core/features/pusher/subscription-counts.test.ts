import { describe, expect, it } from "vitest";
import { SubscriptionCounts } from "../../../../src/features/pusher/channel/subscription-counts.ts";
import { pusherLimits } from "../../../../src/features/pusher/limits.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const { countFastMax, countSlowMs } = pusherLimits;

describe("[PU15] the number of subscriptions", () => {
  it("is the sum of all gateways and of those here, told when it changes, over a restart", () => {
    const sql = new NodeSql();
    const counts = new SubscriptionCounts(sql);
    expect(counts.take(0, 1_000)).toBeUndefined();
    counts.set("a", 2);
    counts.set("b", 3);
    expect(counts.take(1, 1_000)).toBe(6);
    expect(counts.take(1, 1_001)).toBeUndefined();
    const next = new SubscriptionCounts(sql);
    next.keepOnly(["b"]);
    expect(next.take(0, 2_001)).toBe(3);
    next.set("b", 0);
    expect(next.take(0, 2_002)).toBe(0);
    expect(new SubscriptionCounts(sql).isEmpty).toBe(true);
  });

  it("of many is told once in a while", () => {
    const counts = new SubscriptionCounts(new NodeSql());
    counts.take(0, 1_000_000);
    counts.set("a", countFastMax + 1);
    expect(counts.take(0, 1_000_000)).toBe(countFastMax + 1);
    counts.set("a", countFastMax + 2);
    expect(counts.dueAtMs(0, 1_000_001)).toBe(1_000_000 + countSlowMs);
    expect(counts.take(0, 1_000_000 + countSlowMs - 1)).toBeUndefined();
    expect(counts.take(0, 1_000_000 + countSlowMs)).toBe(countFastMax + 2);
  });
});
