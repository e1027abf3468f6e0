import { expect, test } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import {
  openChannel,
  positioned,
  positionOf,
  publishing,
} from "../../test/contract/open-channel.ts";
import { bareSubscribeResult } from "../../src/protocol/reply.ts";
import { codecNamed } from "../../src/protocol/codecs.ts";
import { NodeSql } from "../../package/test/node-sql.ts";
import { DroppingSubscriber } from "./dropping-subscriber.ts";
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

/** A subscriber that missed the last so many publications subscribes, and unsubscribes. */
function recovering(channel: Channel, missed: number): () => void {
  const { epoch, offset } = positionOf(channel);
  const options = { ...positioned, since: { epoch, offset: offset - missed } };
  const subscriber = new DroppingSubscriber();
  return () => {
    const subscribed = channel.subscribe(subscriber, options, 0);
    if (subscribed.outcome !== "subscribed" || subscribed.publications.length !== missed) {
      throw new Error("The subscriber has not recovered all publications");
    }
    channel.unsubscribe(subscriber);
  };
}

test("publications that a subscriber missed are read from the history", async ({ bench }) => {
  const results = await bench.compare(
    bench("20 of 100", recovering(filled(100), 20)),
    bench("20 of 10,000", recovering(filled(10_000), 20)),
    bench("1,000 of 1,000", recovering(filled(1_000), 1_000)),
  );
  expect(results.get("20 of 100").latency.mean).toBeGreaterThan(0);
});

test.for(["json", "protobuf", "msgpack"] as const)(
  "what each of many has missed is encoded as %s",
  async (format, { bench }) => {
    const codec = codecNamed(format);
    const channel = filled(100);
    const { epoch, offset } = positionOf(channel);
    const options = { ...positioned, since: { epoch, offset: offset - 20 } };
    const subscriber = new DroppingSubscriber();
    const encoded = (): void => {
      const subscribed = channel.subscribe(subscriber, options, 0);
      if (subscribed.outcome !== "subscribed") throw new Error("The subscriber was refused");
      const { publications } = subscribed;
      const result = { ...bareSubscribeResult, recovered: true, publications };
      const message = codec.encodeReply({ id: 1, method: "subscribe", result });
      // A string that was put together of many is only then copied into one.
      if (typeof message === "string") message.charCodeAt(1);
      channel.unsubscribe(subscriber);
    };
    const results = await bench.compare(
      bench("20 of 100", encoded),
      bench("20 of 100, again", encoded),
    );
    expect(results.get("20 of 100").latency.mean).toBeGreaterThan(0);
  },
);
