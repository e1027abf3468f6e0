import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventServer } from "../../support/servers/event-server.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const secret = "signs-the-events-of-this-test";
let server: TestServer;
let backend: EventServer;

beforeAll(async () => {
  backend = await EventServer.start(secret);
  server = await TestServer.start({
    secrets: { ...testSecrets, HOOK_SIGNING_SECRET: secret },
    config: {
      channel: {
        without_namespace: { allow_subscribe_for_client: true, allow_publish_for_client: true },
      },
      events: {
        target: backend.url,
        types: ["connected", "disconnected", "subscribed", "unsubscribed", "publication"],
      },
    },
  });
});
afterAll(async () => {
  await server.close();
  await backend.close();
});

describe("events", () => {
  it("[E1] [E2] reach a backend over HTTP, from a gateway and from a channel, also repeated", async () => {
    backend.statuses.push(500, 302);
    const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "ada" }) });
    await client.connected.count(1);
    const { subscription } = await client.subscribed("news");
    await subscription.publish("hello");
    await server.backend.publish("news", "there");
    await backend.events.count(4);
    client.close();
    await client.disconnected.next();
    await backend.events.count(6);
    const all = backend.events.all;
    const shown = (isOfChannel: boolean): readonly string[] =>
      all
        .filter(({ object }) => object.startsWith("channel/") === isOfChannel)
        .map(({ type, user, channel, data }) => [type, user, channel, data].join(" "));
    expect(shown(true)).toStrictEqual(["publication ada news hello", "publication  news there"]);
    expect(shown(false)).toStrictEqual([
      "connected ada  ",
      "subscribed ada news ",
      "unsubscribed ada news ",
      "disconnected ada  ",
    ]);
    expect(backend.refused).toBe(2);
    expect(backend.unsigned).toBe(0);
  });
});
