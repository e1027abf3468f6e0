import { createServer, type Server } from "node:http";
import { once } from "node:events";
import PusherClient from "pusher-js";
import type PusherServer from "pusher";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Inbox } from "../../support/inbox.ts";
import { listen } from "../../support/servers/listen.ts";
import { shopApp, shopSecrets } from "../../support/servers/pusher-app.ts";
import { pusherBackend, pusherPlace } from "../../support/servers/pusher-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";

const receiver: Server = createServer();
const told = new Inbox<{
  readonly isValid: boolean;
  readonly name: string;
  readonly channel: string;
}>();
let refusals = 1;
let server: TestServer;
let backend: PusherServer;

beforeAll(async () => {
  const url = `http://127.0.0.1:${await listen(receiver)}/pusher`;
  const webhooks = [{ url, event_types: ["channel_occupied", "channel_vacated", "cache_miss"] }];
  server = await TestServer.start({
    config: {
      channel: { namespaces: [{ name: "shop", presence: true }] },
      pusher: { apps: [{ ...shopApp, secret: "PUSHER_SECRET_SHOP", webhooks }] },
    },
    secrets: { ...testSecrets, ...shopSecrets },
  });
  backend = pusherBackend(server.address);
  receiver.on("request", async (request, response) => {
    let rawBody = "";
    for await (const chunk of request.setEncoding("utf8")) rawBody += String(chunk);
    refusals--;
    response.writeHead(refusals >= 0 ? 500 : 200).end();
    if (refusals >= 0) return;
    const webhook = backend.webhook({ headers: request.headers, rawBody });
    const isValid = webhook.isValid() && webhook.getTime() <= new Date();
    for (const { name, channel } of webhook.getEvents()) told.push({ isValid, name, channel });
  });
});
afterAll(async () => {
  await server.close();
  receiver.closeAllConnections();
  receiver.close();
  await once(receiver, "close");
});

it("[PU13] webhooks pass the check of npm's pusher, in their order, also after a refusal", async () => {
  const client = new PusherClient(shopApp.key, pusherPlace(server.address));
  client.subscribe("cache-news");
  const isValid = true;
  const channel = "cache-news";
  expect(await told.count(2)).toEqual([
    { isValid, name: "channel_occupied", channel },
    { isValid, name: "cache_miss", channel },
  ]);
  client.disconnect();
  expect((await told.count(3)).at(-1)).toEqual({ isValid, name: "channel_vacated", channel });
});
