import { describe, expect, it } from "vitest";
import { CallTrail, CallTrails } from "../../../../src/features/why/call-trail.ts";
import { PublicationTrail } from "../../../../src/features/why/publication-trail.ts";
import type { RelayBatch } from "../../../../src/contract/relay-batch.ts";
import { trailLimits } from "../../../../src/features/why/limits.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { addPublications, at, onlyDelivery, openRelay } from "../../channel/relay/relay-fixture.ts";

describe("the trail of a channel's publications", () => {
  it("[Y1] tells when each came and was committed, and who published it", () => {
    const trail = new PublicationTrail();
    trail.published(1, 7, undefined, "billing", 100);
    trail.published(2, 8, { user: "ada", client: "c1" }, "", 110);
    expect(trail.find(2)).toEqual({
      sequence: 8,
      publishedAtMs: 110,
      by: { client: "c1", user: "ada" },
    });
    trail.committed(120);
    trail.published(3, 9, undefined, "", 130);
    trail.committed(140);
    expect(trail.find(1)).toEqual({
      sequence: 7,
      publishedAtMs: 100,
      committedAtMs: 120,
      by: { key: "billing" },
    });
    expect(trail.find(3)).toMatchObject({ committedAtMs: 140, by: {} });
    expect(trail.find(4)).toBeUndefined();
  });

  it("[Y1] [B1] remembers the last ones, and no user with a longer ID than it may keep", () => {
    const trail = new PublicationTrail();
    const most = trailLimits.trailPublicationsMax;
    for (let offset = 1; offset <= most; offset++)
      trail.published(offset, offset, undefined, "", 0);
    expect(trail.find(1)).toBeDefined();
    const user = "x".repeat(trailLimits.trailUserCharactersMax);
    trail.published(most + 1, most + 1, { user, client: "c" }, "", 0);
    trail.published(most + 2, most + 2, { user: `${user}x`, client: "c" }, "", 0);
    expect([trail.find(2), trail.find(3)?.sequence]).toEqual([undefined, 3]);
    expect(trail.find(most + 1)?.by).toEqual({ user, client: "c" });
    expect(trail.find(most + 2)?.by).toEqual({ user: "", client: "c" });
  });

  it("[Y1] finds the newest publication of an offset, after the epoch has changed", () => {
    const trail = new PublicationTrail();
    trail.published(1, 1, undefined, "", 100);
    trail.published(1, 2, undefined, "", 200);
    expect(trail.find(1)).toMatchObject({ sequence: 2, publishedAtMs: 200 });
  });
});

const batch = (first: number, count: number): RelayBatch => ({
  v: 1,
  channel: "room",
  instance: 1,
  first,
  entries: Array.from({ length: count }, () => ({ type: "removed" as const })),
  certain: true,
});

describe("the trail of the calls to a gateway", () => {
  it("[Y1] tells with which calls the gateway was told of an entry", () => {
    const trail = new CallTrail();
    expect([trail.find(1), trail.last]).toEqual([undefined, undefined]);
    trail.begun(batch(1, 2), 100);
    expect(trail.find(2)).toEqual({ begunAtMs: 100, attempts: 1 });
    expect(trail.last).toEqual({ begunAtMs: 100 });
    trail.ended("failed", 110);
    trail.begun(batch(1, 3), 200);
    trail.ended("taken", 220);
    const told = { begunAtMs: 100, attempts: 2, endedAtMs: 220, outcome: "taken" };
    expect(trail.find(1)).toEqual(told);
    expect(trail.find(3)).toEqual({ ...told, begunAtMs: 200, attempts: 1 });
    expect(trail.find(4)).toBeUndefined();
    expect(trail.last).toEqual({ begunAtMs: 200, endedAtMs: 220 });
  });

  it("[Y1] [B1] remembers the last calls", () => {
    const trail = new CallTrail();
    for (let first = 1; first <= trailLimits.trailCallsMax; first++)
      trail.begun(batch(first, 1), first);
    expect(trail.find(1)).toBeDefined();
    trail.begun(batch(trailLimits.trailCallsMax + 1, 1), 0);
    expect([trail.find(1), trail.find(2)]).toEqual([undefined, { begunAtMs: 2, attempts: 1 }]);
  });

  it("[Y1] [Y4] is kept by the relay, with how far the gateway is", () => {
    const calls = new CallTrails();
    const relay = openRelay(new NodeSql(), { calls });
    relay.follow("weur/0", 0);
    addPublications(relay, 1, 2);
    const delivery = onlyDelivery(relay, 10, at(2));
    addPublications(relay, 3, 3);
    relay.answered(delivery, "failed", 20);
    const [progress] = calls.progress(relay, 1, 30);
    expect(progress).toEqual({
      name: "weur/0",
      lag: 3,
      failures: 1,
      waitsUntilMs: 120,
      lastCall: { begunAtMs: 10, endedAtMs: 20 },
      told: { begunAtMs: 10, attempts: 1, endedAtMs: 20, outcome: "failed" },
    });
    expect(calls.progress(relay, 3, 30)[0]).not.toHaveProperty("told");
    relay.answered(onlyDelivery(relay, 200, at(3)), { outcome: "taken" }, 210);
    expect(calls.progress(relay, 1, 210)).toMatchObject([
      { lag: 0, failures: 0, told: { attempts: 2, outcome: "taken" } },
    ]);
  });
});
