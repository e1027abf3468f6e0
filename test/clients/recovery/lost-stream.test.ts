import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

/** With these claims an attachment has space for fewer cursors than that. */
const claims = { sub: "alice", info: { filler: "x".repeat(7_700) } };
const fillers = Array.from({ length: 124 }, (_, index) => `long:filler-${index}`);

const kept = {
  allow_subscribe_for_client: true,
  presence: true,
  history_ttl: "5m",
  force_recovery: true,
};
const config = {
  client: { channel_limit: 200 },
  channel: {
    namespaces: [
      { name: "long", ...kept, history_size: 100 },
      { name: "short", ...kept, history_size: 2 },
    ],
  },
};

let server: TestServer;
let client: SdkClient;

// After hibernation the gateway has no cursor for any further channel of this client.
beforeAll(async () => {
  server = await TestServer.start({ config });
  client = new SdkClient(server.gatewayAddress(), { token: signToken(claims) });
  await Promise.all(fillers.map((channel) => client.subscribed(channel)));
});
afterAll(async () => {
  client.close();
  await server.close();
});

/** Evicts both objects: the next channel object doesn't know what the former one delivered to the gateway. */
async function evict(channel: string): Promise<void> {
  await server.evictGateway(firstGateway);
  // It may have fallen asleep by itself.
  while (!(await server.asleep(channel)));
}

describe("a gateway that can't know how far it is with a channel", () => {
  it("[L7] [L3] tells a subscriber, who comes back and recovers by itself", async () => {
    const channel = "long:client";
    const subscription = await client.subscribed(channel);
    await server.backend.publish(channel, 1);
    await subscription.publications.count(1);
    await evict(channel);
    await server.backend.publishAll(channel, [2, 3]);
    await subscription.publications.count(3);
    await server.backend.publish(channel, 4);
    await subscription.publications.count(4);
    expect(subscription.offsets).toEqual([1, 2, 3, 4]);
    expect(subscription.subscribing.all[1]).toMatchObject({ code: 2500 });
    expect(subscription.subscribed.all[1]).toMatchObject({ wasRecovering: true, recovered: true });
    expect(subscription.subscribing.all).toHaveLength(2);
    expect(client.reconnects).toBe(0);
  });

  it("[L7] [L3] [R5] signals insufficient state to a subscriber, which gets the top if the history is too short", async () => {
    const channel = "short:client";
    const subscription = await client.subscribed(channel);
    await server.backend.publish(channel, 1);
    await subscription.publications.count(1);
    await evict(channel);
    await server.backend.publishBatch(
      channel,
      [2, 3, 4].map((data) => ({ data, idempotencyKey: "" })),
    );
    const [, again] = await subscription.subscribed.count(2);
    expect(again).toMatchObject({ wasRecovering: true, recovered: false });
    await server.backend.publish(channel, 5);
    await subscription.publications.count(2);
    expect(subscription.offsets).toEqual([1, 5]);
    expect(subscription.subscribing.all[1]).toMatchObject({ code: 2500 });
    expect(client.reconnects).toBe(0);
  });

  it("[L7] [L3] has a client that the server subscribed connect again, and recover by itself", async () => {
    client.close();
    while ((await server.backend.presence(fillers[0] ?? "")).length > 0);
    const token = signToken({ ...claims, channels: fillers });
    const served = new SdkClient(server.gatewayAddress(), { token });
    const { connected, connecting, serverSide } = served;
    await connected.count(1);
    // Some of its cursors don't fit, most likely those of its last subscriptions.
    const published: string[] = [];
    for (const channel of fillers.toReversed()) {
      await evict(channel);
      await server.backend.publish(channel, channel);
      published.push(channel);
      await serverSide.publications.count(published.length);
      if (served.reconnects > 0) break;
    }
    expect(connecting.all[1]).toMatchObject({ code: 3010 });
    await connected.count(2);
    for (const channel of published) await server.backend.publish(channel, "end");
    await serverSide.publications.count(2 * published.length);
    for (const channel of published) expect(serverSide.dataOf(channel)).toEqual([channel, "end"]);
    expect(served.reconnects).toBe(1);
    served.close();
  });
});
