import type PusherClient from "pusher-js";
import type { Options } from "pusher-js";
import type PusherServer from "pusher";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeBlocksOf, codeFolder, writeCode } from "../../support/documented-code.ts";
import { Inbox } from "../../support/inbox.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { shopApp, shopSecrets } from "../../support/servers/pusher-app.ts";
import { pusherBackend, pusherPlace, signedChannels } from "../../support/servers/pusher-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";

const gateway = `pusher~${firstGateway}`;
let server: TestServer;
let backend: PusherServer;

/** The page's code as a module. */
let page: { open(options: Options, reload: (channel: string) => void): PusherClient };
const folder = codeFolder();

beforeAll(async () => {
  const { code = "" } =
    codeBlocksOf("pusher.md").find(({ heading }) => heading.startsWith("What came")) ?? {};
  const wrapped = `import Pusher from "pusher-js";
    export function open(options, reload) { ${code}; return pusher; }`;
  page = await import(writeCode(folder.path, "page.mjs", wrapped));
  server = await TestServer.start({
    config: {
      channel: {
        namespaces: [{ name: "shop", presence: true, history_size: 5, history_ttl: "10m" }],
      },
      pusher: { apps: [{ ...shopApp, secret: "PUSHER_SECRET_SHOP" }] },
    },
    secrets: { ...testSecrets, ...shopSecrets },
  });
  backend = pusherBackend(server.address);
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** A page with the code of docs/pusher.md, subscribed to a channel. */
function openPage(name: string) {
  const options = {
    ...pusherPlace(server.address),
    channelAuthorization: signedChannels(backend, "7"),
  };
  const got = new Inbox<unknown>();
  const pusher = page.open(options, () => got.push("lost"));
  const channel = pusher.subscribe(name);
  channel.bind("order", (data: unknown) => got.push(data));
  const subscribed = new Inbox<string>();
  channel.bind("pusher:subscription_succeeded", () => subscribed.push("yes"));
  return { pusher, got, subscribed };
}

describe.each(["", "presence-"])("[PU17] a page of pusher-js on the channel %jroom", (prefix) => {
  it.each(["awake", "evicted"])(
    "gets what came while it was away, once and in order, the objects %s",
    async (state) => {
      const name = `${prefix}room-${state}`;
      const { pusher, got, subscribed } = openPage(name);
      await subscribed.count(1);
      await backend.trigger(name, "order", 1);
      await got.count(1);
      if (state === "evicted") {
        await server.evictGateway(gateway);
        await server.evict(`shop:${name}`);
      }
      await backend.trigger(name, "order", 2);
      await got.count(2);
      pusher.disconnect();
      for (const order of [3, 4, 5]) await backend.trigger(name, "order", order);
      pusher.connect();
      await subscribed.count(2);
      await backend.trigger(name, "order", 6);
      expect(await got.count(6)).toEqual([1, 2, 3, 4, 5, 6]);
      pusher.disconnect();
      for (let order = 7; order < 14; order++) await backend.trigger(name, "order", order);
      pusher.connect();
      expect((await got.count(7)).at(-1)).toBe("lost");
      await backend.trigger(name, "order", 14);
      expect((await got.count(8)).at(-1)).toBe(14);
      pusher.disconnect();
    },
  );
});
