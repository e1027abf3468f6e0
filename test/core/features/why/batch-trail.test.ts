import { describe, expect, it } from "vitest";
import type { RelayBatch } from "../../../../src/contract/relay-batch.ts";
import { BatchTrail } from "../../../../src/features/why/batch-trail.ts";
import { trailLimits } from "../../../../src/features/why/limits.ts";
import { publishing } from "../../../contract/open-channel.ts";

function batch(channel: string, ...offsets: readonly number[]): RelayBatch {
  const entries = offsets.map((offset) => ({
    type: "publication" as const,
    publication: { data: publishing(1).data, offset },
  }));
  return { v: 1, channel, instance: 1, first: 1, entries, certain: true };
}

function opened(): BatchTrail {
  let nowMs = 1_000;
  return new BatchTrail({ nowMs: () => nowMs++ });
}

describe("the trail of a gateway's batches", () => {
  it("[Y1] tells when the gateway first took a publication, and whether it read it", () => {
    const trail = opened();
    trail.took(batch("news", 1, 0, 2, 0));
    trail.took(batch("room", 1));
    trail.took(batch("news", 1, 2, 3));
    trail.read("news", 4, 9);
    trail.read("news", 10, 9);
    trail.took(batch("news", 11));
    expect(trail.find("news", 2)).toEqual({ atMs: 1_000 });
    expect(trail.find("room", 1)).toEqual({ atMs: 1_001 });
    expect(trail.find("news", 3)).toEqual({ atMs: 1_002 });
    expect(trail.find("news", 9)).toEqual({ atMs: 1_003, read: true });
    expect(trail.find("news", 11)).toEqual({ atMs: 1_004 });
    expect([trail.find("news", 10), trail.find("room", 2)]).toEqual([undefined, undefined]);
  });

  it("[Y1] notes nothing of a batch without offsets", () => {
    const trail = opened();
    trail.took(batch("news", 0));
    trail.took(batch("news"));
    expect(trail.find("news", 0)).toBeUndefined();
  });

  it("[Y1] [B1] remembers the last ones, and says since when", () => {
    const trail = opened();
    for (let offset = 1; offset <= trailLimits.trailBatchesMax; offset++)
      trail.took(batch("news", offset));
    expect([trail.find("news", 1)?.atMs, trail.sinceMs]).toEqual([1_000, undefined]);
    trail.took(batch("news", 5_000));
    expect([trail.find("news", 1), trail.sinceMs]).toEqual([undefined, 1_001]);
  });
});
