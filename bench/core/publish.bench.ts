import { expect, test } from "vitest";
import { FrameTrail } from "../../src/features/why/frame-trail.ts";
import { PublicationTrail } from "../../src/features/why/publication-trail.ts";
import { trailLimits } from "../../src/features/why/limits.ts";
import { openChannel, publishing } from "../../test/contract/open-channel.ts";
import { NodeSql } from "../../package/test/node-sql.ts";
import { sendAll } from "../../test/support/send-all.ts";
import { DroppingSubscriber } from "./dropping-subscriber.ts";
import { payload } from "./payload.ts";

const options = { historySize: 1_000, historyTtlMs: 3_600_000 };

/** Publishes into a channel with so many subscribers, each time at a later moment, so that nothing is collected. */
function publisher(subscriberCount: number, historySize = options.historySize): () => void {
  const frames = new FrameTrail({ nowMs: () => Date.now() }, trailLimits.trailFramesMax);
  const publications = new PublicationTrail();
  const channel = openChannel(new NodeSql(), {
    options: { ...options, historySize },
    frames,
    publications,
  });
  for (let count = 0; count < subscriberCount; count++) channel.hub.add(new DroppingSubscriber());
  const request = publishing(payload);
  let nowMs = 0;
  return () => {
    nowMs += 1_000;
    channel.publish(request, undefined, nowMs);
    publications.committed(nowMs);
    sendAll(channel.hub);
  };
}

test("a publication with history, its row written, and the loop over the subscribers", async ({
  bench,
}) => {
  const results = await bench.compare(
    bench("no subscribers, no history", publisher(0, 0)),
    bench("no subscribers", publisher(0)),
    bench("100 subscribers", publisher(100)),
    bench("1,000 subscribers", publisher(1_000)),
  );
  expect(results.get("1,000 subscribers").latency.mean).toBeGreaterThan(0);
});
