import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storedResults } from "./results.ts";
import { pageFiles } from "./scale-page.ts";
import { deploy, manyChannels, oneChannel, placeGone, type Size } from "./scenarios.ts";

/** A gateway at each of the six places. */
const small: Size = { seed: 1, clients: 5_000, weight: 25, perGateway: 2_000 };
const gateways = 6;
const published = 5;

describe("the stand", () => {
  it("[L2] calls each gateway with a subscriber once for a publication, and writes one row", () => {
    const outcome = oneChannel(small, 1, published);
    expect(outcome).toMatchObject({
      gateways,
      published,
      refused: 0,
      complete: published,
      calls: { deliver: published * gateways },
      counts: { rowsWritten: published, callsMade: published * gateways, callsFailed: 0 },
      logged: 0,
    });
    // The last client is in Africa, half of 219 ms away, behind a frame to the 150 clients of its gateway.
    expect(outcome.lastMs).toBeGreaterThan(219 / 2);
    expect(outcome.lastMs).toBeLessThan(300);
  });

  it("counts the same with a session for each client as with one for each slice", () => {
    expect(countsWith({ ...small, weight: 1 })).toEqual(countsWith(small));
  });

  it("gives the same for the same seed, and other times for another", () => {
    const [first, again, other] = [7, 7, 8].map((seed) => oneChannel({ ...small, seed }, 10, 2));
    expect(again).toEqual(first);
    expect(other?.lastMedianMs).not.toBe(first?.lastMedianMs);
  });

  it("has a gateway share frames once its thread is used up", () => {
    const size: Size = { ...small, perGateway: 5_000 };
    const [slow, fast] = [oneChannel(size, 2, 4), oneChannel(size, 50, 4)];
    expect(fast.gatewayShare).toBeGreaterThan(0.9);
    expect(fast.gatewayShare).toBeLessThanOrEqual(1);
    expect(fast.complete).toBe(200);
    expect(fast.counts.framesSent / 200).toBeLessThan((slow.counts.framesSent / 8) * 0.9);
  });

  it("[L6] brings everybody back after a deploy, with what they missed, and each gateway follows once", () => {
    const back = deploy(small, 1);
    expect(back).toMatchObject({ recovered: small.clients, unrecovered: 0 });
    expect(back.outcome).toMatchObject({ published: 60, complete: 60, logged: 0 });
    expect(back.outcome.requests["follow"]).toBe(gateways);
    expect(back.backMs.half).toBeGreaterThan(500);
  });

  it("delays no other place when a place goes away", () => {
    const gone = placeGone(small, 1, "eu", 30_000);
    expect(gone).toMatchObject({ recovered: 1_500, unrecovered: 0 });
    expect(gone.outcome).toMatchObject({ published: 60, complete: 60 });
    expect(gone.outcome.lastUncutMs).toBeLessThan(300);
    expect(gone.outcome.counts.callsFailed).toBeGreaterThan(0);
    expect(gone.backMs.half).toBeGreaterThan(30_000);
  });

  it("makes a call and writes a row for a publication to each of many channels", () => {
    const { counts, complete } = manyChannels({ ...small, clients: 200, weight: 1 }, 1, 20);
    expect(counts).toMatchObject({ callsMade: 20, rowsWritten: 20 });
    expect(complete).toBe(20);
  });

  it("shows on docs/performance/scale.md what the stored results give", () => {
    const folder = join(import.meta.dirname, "../../../docs/performance");
    const files = pageFiles(storedResults());
    expect(files.size).toBe(4);
    for (const [name, text] of files) expect(readFileSync(join(folder, name), "utf8")).toBe(text);
  });
});

/** What a run counts that doesn't depend on when its clients came. */
function countsWith(size: Size): object {
  const { counts, calls, complete } = oneChannel(size, 10, 3);
  const { callsMade, rowsWritten, framesSent, bytesSent, alarmsSet } = counts;
  return { callsMade, rowsWritten, framesSent, bytesSent, alarmsSet, calls, complete };
}
