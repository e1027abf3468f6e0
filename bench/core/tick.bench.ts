import { expect, test } from "vitest";
import {
  type NotingObject,
  positionOf,
  SubscriberNotes,
} from "../../src/features/cursors/subscriber-notes.ts";
import type { ObjectPart } from "../../src/object/part.ts";
import { ChannelFixture } from "../../test/core/session/channel-fixture.ts";

const subscriberCount = 1_000;
const intervalMs = 25_000;
const options = {
  allow_subscribe_for_client: true,
  history_size: 100,
  history_ttl: "24h",
  force_recovery: true,
};

/** The same object with notes of what has arrived. */
class NotingFixture extends ChannelFixture {
  protected override newParts(): readonly ObjectPart[] {
    const object: NotingObject = {
      nowMs: () => this.nowMs,
      isNoted: () => true,
      sent: () =>
        positionOf(this.channel.top, this.channel.hub.firstWaitingOffset, "from its beginning"),
    };
    return [new SubscriberNotes(object)];
  }
}

/** An idle tick: all clients have answered the ping before, and are pinged. */
function ticker(fixture: ChannelFixture): () => void {
  fixture.publish("1");
  for (let count = 0; count < subscriberCount; count++) fixture.subscribed(`user-${count}`);
  return () => {
    fixture.pass(intervalMs);
    for (const connection of fixture.connections) {
      connection.takeSent();
      connection.autoResponseMs = fixture.nowMs + 10;
    }
  };
}

test("an idle tick, with and without notes of what has arrived", async ({ bench }) => {
  const results = await bench.compare(
    bench("without notes", ticker(new ChannelFixture({ options }))),
    bench("with notes", ticker(new NotingFixture({ options }))),
  );
  expect(results.get("with notes").latency.mean).toBeGreaterThan(0);
});
