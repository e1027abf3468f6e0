import { expect, test } from "vitest";
import { openChannel, publishing } from "../../../test/contract/open-channel.ts";
import { NodeSql } from "../../../test/support/node-sql.ts";
import { DroppingRecipient } from "./dropping-recipient.ts";
import { payload } from "./payload.ts";

const options = { historySize: 1_000, historyTtlMs: 3_600_000 };

/** Publishes into a channel with so many listeners, each time at a later moment, so that nothing is collected. */
function publisher(recipientCount: number, historySize = options.historySize): () => void {
  const channel = openChannel(new NodeSql(), { options: { ...options, historySize } });
  for (let count = 0; count < recipientCount; count++) channel.hub.add(new DroppingRecipient());
  const request = publishing(payload);
  let nowMs = 0;
  return () => {
    nowMs += 1_000;
    channel.publish(request, undefined, nowMs);
    channel.hub.settle(nowMs);
  };
}

test("a publication with history, its row written, and the loop over the listeners", async ({
  bench,
}) => {
  const results = await bench.compare(
    bench("nobody listens, no history", publisher(0, 0)),
    bench("nobody listens", publisher(0)),
    bench("100 listen", publisher(100)),
    bench("1,000 listen", publisher(1_000)),
  );
  expect(results.get("1,000 listen").latency.mean).toBeGreaterThan(0);
});
