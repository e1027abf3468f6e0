import { expect, test } from "vitest";
import type { Channel } from "../../../src/channel/channel.ts";
import {
  openChannel,
  positioned,
  positionOf,
  publishing,
} from "../../../test/contract/open-channel.ts";
import { NodeSql } from "../../../test/support/node-sql.ts";
import { DroppingRecipient } from "./dropping-recipient.ts";
import { payload } from "./payload.ts";

/** A channel whose history holds so many publications, and is full. */
function filled(historySize: number): Channel {
  const channel = openChannel(new NodeSql(), {
    options: { historySize, historyTtlMs: 3_600_000 },
    client: { recoveryMaxPublicationLimit: 10_000 },
  });
  for (let count = 0; count < historySize; count++) {
    channel.publish(publishing(payload), undefined, 0);
  }
  return channel;
}

/** Somebody subscribes who missed the last so many, and leaves. */
function recovering(channel: Channel, missed: number): () => void {
  const { epoch, offset } = positionOf(channel);
  const wish = { ...positioned, since: { epoch, offset: offset - missed } };
  const recipient = new DroppingRecipient();
  return () => {
    const joined = channel.subscribe(recipient, wish, 0);
    if (joined.outcome !== "subscribed" || joined.publications.length !== missed) {
      throw new Error("It has not recovered all");
    }
    channel.unsubscribe(recipient);
  };
}

test("what a subscriber missed is read from the history", async ({ bench }) => {
  const results = await bench.compare(
    bench("20 of 100", recovering(filled(100), 20)),
    bench("20 of 10,000", recovering(filled(10_000), 20)),
    bench("1,000 of 1,000", recovering(filled(1_000), 1_000)),
  );
  expect(results.get("20 of 100").latency.mean).toBeGreaterThan(0);
});
