import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import PusherClient from "pusher-js";
import PusherServer from "pusher";
import { afterAll, beforeAll, describe } from "vitest";
import { describePusherSpecs } from "../../support/environments/pusher-specs.ts";
import { listen } from "../../support/servers/listen.ts";
import { shopApp, shopConfig, shopSecrets } from "../../support/servers/pusher-app.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";

/** The key that is written into the specs. */
const key = "c49a449b916bb4246729";
const [shop] = shopConfig.pusher.apps;
const config = { ...shopConfig, pusher: { apps: [{ ...shop, key }] } };
const backend = createServer();
let backendAddress = "";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config, secrets: { ...testSecrets, ...shopSecrets } });
  const { hostname: host, port } = new URL(server.address);
  const secret = shopSecrets.PUSHER_SECRET_SHOP;
  const pusher = new PusherServer({ appId: shopApp.id, key, secret, host, port, useTLS: false });
  // As the integration_tests_server of pusher-js answers.
  backend.on("request", async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", backendAddress);
    if (pathname === "/auth") {
      const fields = new URLSearchParams(await text(request));
      const [socket, channel] = [fields.get("socket_id") ?? "", fields.get("channel_name") ?? ""];
      const name = `Integration ${socket}`;
      const email = `integration-${socket}@example.com`;
      const signed = pusher.authorizeChannel(socket, channel, {
        user_id: socket,
        user_info: { name, email },
      });
      response.end(JSON.stringify(signed));
    } else {
      const [channel, event, data] = ["channel", "event", "data"].map((one) =>
        Buffer.from(searchParams.get(one) ?? "", "base64").toString(),
      );
      await pusher.trigger(channel ?? "", event ?? "", JSON.parse(data ?? ""));
      response.end();
    }
  });
  backendAddress = `http://127.0.0.1:${await listen(backend)}`;
});
afterAll(async () => {
  backend.close();
  backend.closeAllConnections();
  await server.close();
});

function open(given: string, options: object): PusherClient {
  const { hostname, port } = new URL(server.address);
  const channelAuthorization = { endpoint: `${backendAddress}/auth`, transport: "ajax" } as const;
  const place = { wsHost: hostname, wsPort: Number(port), enabledTransports: ["ws" as const] };
  return new PusherClient(given, { cluster: "mt1", ...options, ...place, channelAuthorization });
}

describe("[PU1] [PU2] [PU4] [PU5] [PU6] pusher-js's own specs of channels", async () => {
  await describePusherSpecs({ open, backend: () => backendAddress });
});
