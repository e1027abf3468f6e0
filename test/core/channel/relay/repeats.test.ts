import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import type { Relay } from "../../../../src/channel/relay.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import {
  addPublications,
  at,
  checkIntervalMs,
  onlyDelivery,
  openRelay,
  publication,
} from "./relay-fixture.ts";

const taken = { outcome: "taken" } as const;
const busy = { outcome: "busy" } as const;

describe("a gateway that doesn't answer", () => {
  it("[L1] is called again after 100 ms, doubling to 3.2 s, and from then on after 8 s, doubling to 10 minutes", () => {
    const relay = following();
    addPublications(relay, 1, 1);
    const quick = [100, 200, 400, 800, 1_600, 3_200];
    const slow = [8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 600_000, 600_000];
    expect(waits(relay, 15)).toEqual([...quick, ...slow]);
  });

  it("[L1] is called at once again after it took something or asked to follow", () => {
    const relay = following();
    addPublications(relay, 1, 1);
    relay.answered(onlyDelivery(relay, 0), "failed", 0);
    relay.answered(onlyDelivery(relay, 100), busy, 100);
    expect(relay.deliveries(at(1), 299)).toEqual([]);
    relay.answered(onlyDelivery(relay, 300), taken, 300);
    addPublications(relay, 2, 2);
    relay.answered(onlyDelivery(relay, 300), "failed", 300);
    expect(relay.dueAtMs(300)).toBe(400);
    relay.follow("a", 300);
    addPublications(relay, 3, 3);
    expect(onlyDelivery(relay, 300).batch).toMatchObject({ first: 3, certain: true });
  });

  it("[L1] doesn't wait longer when the clock is set back", () => {
    const relay = following();
    addPublications(relay, 1, 1);
    relay.answered(onlyDelivery(relay, 1_000_000), "failed", 1_000_000);
    expect(onlyDelivery(relay, 500).batch.first).toBe(1);
  });

  it("[L4] is asked again by a later instance, although the channel hibernated meanwhile", () => {
    const sql = new NodeSql();
    const relay = openRelay(sql);
    relay.follow("a", 0);
    addPublications(relay, 1, 1);
    const failures = waits(relay, 6).reduce((sum, waitMs) => sum + waitMs, 0);
    expect(openRelay(sql, { instance: 2 }).dueAtMs(failures)).toBe(checkIntervalMs);
    relay.answered(onlyDelivery(relay, failures), "failed", failures);
    const later = openRelay(sql, { instance: 2 });
    const dueMs = failures + 600_000;
    expect(later.dueAtMs(failures)).toBe(dueMs);
    expect(later.deliveries(at(1), dueMs - 1)).toEqual([]);
    const { batch } = onlyDelivery(later, dueMs, at(1));
    expect(batch).toMatchObject({ instance: 2, first: 1, entries: [], certain: false, top: at(1) });
  });

  it("[H8] is noted nowhere on a channel without history", () => {
    const sql = new NodeSql();
    const relay = openRelay(sql, { hasHistory: false });
    relay.follow("a", 0);
    addPublications(relay, 1, 1);
    waits(relay, 10);
    expect(openRelay(sql).dueAtMs(0)).toBe(checkIntervalMs);
  });
});

describe("after a crash", () => {
  it("[L4] an alarm is due while a gateway has not taken everything", () => {
    const relay = following();
    expect(openRelay().dueAtMs(0)).toBeUndefined();
    expect(relay.dueAtMs(0)).toBe(checkIntervalMs);
    addPublications(relay, 1, 1);
    expect(relay.dueAtMs(1_000)).toBe(1_000 + limits.crashAlarmMs);
    const delivery = onlyDelivery(relay, 1_000);
    expect(relay.dueAtMs(1_000)).toBe(1_000 + limits.crashAlarmMs);
    relay.answered(delivery, "failed", 1_000);
    expect(relay.dueAtMs(1_000)).toBe(1_100);
    relay.answered(onlyDelivery(relay, 1_100), taken, 1_100);
    expect(relay.dueAtMs(1_100)).toBe(checkIntervalMs);
  });

  it("[H8] [H14] no alarm is due on a channel without history", () => {
    const relay = openRelay(new NodeSql(), { hasHistory: false });
    relay.follow("a", 0);
    relay.append(publication(0), undefined);
    expect(relay.dueAtMs(0)).toBeUndefined();
    onlyDelivery(relay);
    expect(relay.dueAtMs(0)).toBeUndefined();
  });

  it("[L4] gateways without an answer since then get the top", () => {
    const sql = new NodeSql();
    const former = openRelay(sql);
    for (const gateway of ["a", "b", "c"]) former.follow(gateway, 0);
    const relay = openRelay(sql, { instance: 2 });
    expect(relay.deliveries(at(7), 0)).toEqual([]);
    relay.follow("b", 0);
    relay.checkAfterWaking();
    const entries = relay.deliveries(at(7), 0);
    // That one asked to follow proves nothing: its question may be an old one that came late.
    expect(entries.map(({ gateway }) => gateway)).toEqual(["a", "b", "c"]);
    expect(entries[0]?.batch).toEqual({
      v: 1,
      channel: "room",
      instance: 2,
      first: 1,
      entries: [],
      certain: false,
      top: at(7),
    });
    for (const delivery of entries) relay.answered(delivery, taken, 0);
    relay.checkAfterWaking();
    expect(relay.deliveries(at(7), 0)).toEqual([]);
    addPublications(relay, 8, 8);
    expect(relay.deliveries(at(8), 0).map(({ batch }) => batch.certain)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("[L4] they are called until they have answered", () => {
    const sql = new NodeSql();
    openRelay(sql).follow("a", 0);
    const relay = openRelay(sql, { instance: 2 });
    relay.checkAfterWaking();
    relay.answered(onlyDelivery(relay, 0, at(7)), "failed", 0);
    expect(relay.dueAtMs(0)).toBe(100);
    expect(onlyDelivery(relay, 100, at(7)).batch).toMatchObject({ entries: [], top: at(7) });
    expect(relay.dueAtMs(100)).toBe(100 + limits.crashAlarmMs);
  });

  it("[L4] a publication informs them too, and isn't certain", () => {
    const sql = new NodeSql();
    openRelay(sql).follow("a", 0);
    const relay = openRelay(sql, { instance: 2 });
    addPublications(relay, 8, 8);
    expect(onlyDelivery(relay, 0, at(8)).batch).toMatchObject({ first: 1, certain: false });
  });
});

describe("asking whether a gateway still follows", () => {
  it("[L5] happens after an interval without an answer, and the answer is noted", () => {
    const sql = new NodeSql();
    const relay = openRelay(sql);
    relay.follow("a", 0);
    expect(relay.deliveries(at(0), checkIntervalMs - 1)).toEqual([]);
    const asked = onlyDelivery(relay, checkIntervalMs);
    expect(asked.batch).toMatchObject({ first: 1, entries: [], certain: true });
    expect(openRelay(sql).dueAtMs(0)).toBe(checkIntervalMs);
    relay.answered(asked, taken, checkIntervalMs);
    for (const opened of [relay, openRelay(sql)]) {
      expect(opened.dueAtMs(checkIntervalMs)).toBe(2 * checkIntervalMs);
    }
  });

  it("[L5] costs no row when it takes publications", () => {
    const sql = new NodeSql();
    const relay = openRelay(sql);
    relay.follow("a", 0);
    addPublications(relay, 1, 1);
    relay.answered(onlyDelivery(relay, 500), taken, 500);
    expect(openRelay(sql).dueAtMs(500)).toBe(checkIntervalMs);
    relay.answered(onlyDelivery(relay, checkIntervalMs), taken, checkIntervalMs);
    addPublications(relay, 2, 2);
    relay.answered(onlyDelivery(relay, checkIntervalMs + 500), taken, checkIntervalMs + 500);
    expect(openRelay(sql).dueAtMs(checkIntervalMs)).toBe(2 * checkIntervalMs);
  });

  it("[H6] happens once for each gateway without an answer since then", () => {
    const relay = following();
    relay.follow("late", 5_000);
    expect([relay.isFollowed(0), relay.isFollowed(5_000)]).toEqual([true, false]);
    relay.checkFollowers(5_000);
    expect(relay.isFollowed(5_000)).toBe(true);
    const asked = onlyDelivery(relay, 6_000);
    expect(asked.gateway).toBe("a");
    relay.answered(asked, taken, 6_000);
    relay.checkFollowers(5_000);
    expect(relay.deliveries(at(0), 6_000)).toEqual([]);
    expect([relay.isFollowed(5_000), relay.isFollowed(5_001), relay.isFollowed(6_000)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(openRelay().isFollowed(0)).toBe(false);
  });
});

function following(): Relay {
  const relay = openRelay();
  relay.follow("a", 0);
  return relay;
}

/** Lets so many calls fail, one after the other, and gives the wait after each. */
function waits(relay: Relay, calls: number): number[] {
  const waited: number[] = [];
  let nowMs = 0;
  for (let call = 0; call < calls; call++) {
    relay.answered(onlyDelivery(relay, nowMs), "failed", nowMs);
    const dueMs = relay.dueAtMs(nowMs) ?? 0;
    expect(relay.deliveries(at(1), dueMs - 1)).toEqual([]);
    waited.push(dueMs - nowMs);
    nowMs = dueMs;
  }
  return waited;
}
