import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { freePort } from "../../support/servers/listen.ts";
import { shopApp, shopConfig, shopSecrets } from "../../support/servers/pusher-app.ts";
import { PusherSite } from "../../support/servers/pusher-site.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { TestBackend } from "../../support/servers/test-backend.ts";
import { StartedServer } from "../../support/servers/started-server.ts";
import { WorkerFolder } from "../../support/servers/worker-folder.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { testSecrets } from "../../support/test-tokens.ts";

const chromium = findChromium();
const secrets = { ...testSecrets, ...shopSecrets };

/** A server that takes pages of that origin; and what ends it. */
type Start = (origin: string) => Promise<{ readonly address: string; readonly end: () => unknown }>;

const servers: readonly { readonly program: string; readonly start: Start }[] = [
  {
    program: "npm start",
    start: async () => {
      const worker = new WorkerFolder("", secrets);
      const options = ["--config", worker.configFile, "--var", configOf({})];
      const server = await StartedServer.start(await freePort(), worker.path, options);
      const end = async () => {
        await server.stop();
        worker.remove();
      };
      return { address: server.welcome.address, end };
    },
  },
  {
    program: "npm run serve",
    start: async (origin) => {
      const state = mkdtempSync(join(tmpdir(), "dormouse-test-"));
      const config = configOf({ client: { allowed_origins: [origin] } });
      const options = ["--port", String(await freePort()), "--state", state, "--var", config];
      const server = await ServedServer.start(options, undefined, secrets);
      const end = async () => {
        await server.kill();
        rmSync(state, { recursive: true });
      };
      return { address: server.address, end };
    },
  },
];

function configOf(more: object): string {
  return `config:${JSON.stringify({ ...shopConfig, ...more })}`;
}

if (chromium === undefined) {
  it("no client of Pusher is tested in a browser: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe.each(servers)("pages in Chromium, over $program", ({ start }) => {
    inBrowser(chromium, start);
  });
}

function inBrowser(browser: string, start: Start): void {
  let site: PusherSite;
  let server: Awaited<ReturnType<Start>>;
  beforeAll(async () => {
    site = await PusherSite.start();
    server = await start(site.origin);
    site.use(server.address);
  });
  afterAll(async () => {
    await server.end();
    site.close();
  });

  /** A page of a user, whose `seen` has what came. @param setup a script that makes the page's client */
  async function open(test: TestContext, user: string, setup: string): Promise<ControlledPage> {
    const page = await ControlledPage.open(test, browser, `${site.origin}/?user=${user}`);
    await page.until("globalThis.Pusher !== undefined && globalThis.Echo !== undefined");
    await page.evaluate(`
      globalThis.seen = [];
      globalThis.see = (what) => (data) => void seen.push([what, data]);
      ${setup}
      void 0`);
    return page;
  }

  /** What a client gets to find the server, as the two lines of a page's code. */
  function place(more: object): string {
    const { hostname: wsHost, port } = new URL(server.address);
    const ports = { wsPort: Number(port), wssPort: Number(port) };
    const ways = { forceTLS: false, enabledTransports: ["ws", "wss"] };
    return JSON.stringify({ key: shopApp.key, wsHost, ...ports, ...ways, ...more });
  }

  /** The code of a page that uses pusher-js alone. */
  function newPusher(): string {
    return `
      const headers = { "X-CSRF-Token": document.querySelector("meta").content };
      const auth = (endpoint) => ({ endpoint, transport: "ajax", headers });
      globalThis.pusher = new Pusher("${shopApp.key}", {
        ...${place({ cluster: "any" })},
        channelAuthorization: auth("/broadcasting/auth"),
        userAuthentication: auth("/broadcasting/user-auth"),
      });`;
  }

  describe.each(["reverb", "pusher"])("of laravel-echo with the broadcaster %s", (broadcaster) => {
    const echo = () =>
      `globalThis.echo = new Echo.default(${place({ broadcaster, cluster: "mt1" })});`;

    it("[PU2] [PU3] [PU4] hear an application's events, also those to the others alone", async (test) => {
      const listen = `
        ${echo()}
        const until = [echo.channel("orders-${broadcaster}"), echo.private("room.${broadcaster}")];
        until[0].listen("OrderShipped", see("shipped")).subscribed(see("public"));
        until[1].listen(".named", see("named")).subscribed(see("private"));`;
      const pages = [await open(test, "ann", listen), await open(test, "bob", listen)] as const;
      for (const page of pages) await seen(page, 2);
      const socket = await pages[0].evaluate("echo.socketId()");
      const shipped = "App\\Events\\OrderShipped";
      await site.backend.trigger(`orders-${broadcaster}`, shipped, { id: 1 });
      for (const page of pages) await seen(page, 3);
      await site.backend.trigger(`private-room.${broadcaster}`, "named", 2, { socket_id: socket });
      await site.backend.trigger(`private-room.${broadcaster}`, "named", 3);
      expect(JSON.stringify(await seen(pages[0], 4))).toContain(
        '["shipped",{"id":1}],["named",3]]',
      );
      expect(JSON.stringify(await seen(pages[1], 5))).toContain('["named",2],["named",3]]');
      expect(await pages[0].evaluate("echo.connectionStatus()")).toBe("connected");
    });

    it("[PU5] [PU6] see who is in a room, who comes and goes, and whisper", async (test) => {
      const entering = `
        ${echo()}
        echo.join("room.${broadcaster}")
          .here((members) => seen.push(["here", members.map(({ name }) => name).sort()]))
          .joining(({ name }) => seen.push(["joining", name]))
          .leaving(({ name }) => seen.push(["leaving", name]))
          .listenForWhisper("typing", see("typing"));`;
      const ann = await open(test, "ann", entering);
      expect(await seen(ann, 1)).toEqual([["here", ["ann"]]]);
      const bob = await open(test, "bob", entering);
      expect(await seen(bob, 1)).toEqual([["here", ["ann", "bob"]]]);
      await seen(ann, 2);
      await bob.evaluate(`void echo.join("room.${broadcaster}").whisper("typing", { at: 7 })`);
      await seen(ann, 3);
      await bob.send("Page.close");
      expect(await seen(ann, 4)).toEqual([
        ["here", ["ann"]],
        ["joining", "bob"],
        ["typing", { at: 7 }],
        ["leaving", "bob"],
      ]);
    });

    it("[PU4] are told when the application refuses them, and stay connected", async (test) => {
      const page = await open(
        test,
        "ann",
        `${echo()} document.cookie = "user=; Max-Age=0";
        echo.private("secret").error(({ status }) => seen.push(["error", status]));`,
      );
      expect(await seen(page, 1)).toEqual([["error", 403]]);
      expect(await page.evaluate("echo.connectionStatus()")).toBe("connected");
    });
  });

  it("[PU4] [PU7] [PU8] of pusher-js decrypt, get a cached event, and the events of their user", async (test) => {
    await site.backend.trigger("cache-price", "price", { euros: 3 });
    const page = await open(
      test,
      "ann",
      `${newPusher()}
      pusher.subscribe("cache-price").bind("price", see("price"));
      const sealed = pusher.subscribe("private-encrypted-room");
      sealed.bind("pusher:subscription_succeeded", see("succeeded"));
      sealed.bind("secret", see("secret"));
      pusher.user.bind("greeting", see("greeting"));
      pusher.signin();`,
    );
    await page.until(`seen.some(([what]) => what === "succeeded")`);
    await page.until(`pusher.user.user_data?.id === "ann"`);
    await page.until(`pusher.user.serverToUserChannel?.subscribed`);
    await site.backend.trigger("private-encrypted-room", "secret", { pin: 1234 });
    await site.backend.sendToUser("ann", "greeting", { hello: "ann" });
    expect(await seen(page, 4)).toEqual(
      expect.arrayContaining([
        ["price", { euros: 3 }],
        ["secret", { pin: 1234 }],
        ["greeting", { hello: "ann" }],
      ]),
    );
    expect(page.problems).toEqual([]);
  });

  it("[PU9] of pusher-js come back after a close, with their subscriptions and their user", async (test) => {
    const setup = `
      ${newPusher()}
      const channel = pusher.subscribe("news");
      channel.bind("pusher:subscription_succeeded", () => seen.push("subscribed"));
      channel.bind("item", (item) => seen.push(item));
      pusher.signin();`;
    const page = await open(test, "cyd", setup);
    await page.until(`seen.length === 1 && pusher.user.user_data?.id === "cyd"`);
    const before = await page.evaluate("pusher.connection.socket_id");
    const backend = new TestBackend(server.address, testSecrets.API_KEY);
    await backend.disconnect({ user: "cyd", disconnect: { code: 3000, reason: "test" } });
    await seen(page, 2);
    expect(await page.evaluate("pusher.connection.socket_id")).not.toBe(before);
    await site.backend.trigger("news", "item", 1);
    expect(await seen(page, 3)).toEqual(["subscribed", "subscribed", 1]);
    await page.until(`pusher.user.user_data?.id === "cyd"`);
  });
}

/** What has come to a page, once it is so much. */
async function seen(page: ControlledPage, count: number): Promise<unknown> {
  await page.until(`seen.length >= ${count}`);
  return JSON.parse(await page.evaluate("JSON.stringify(seen)"));
}
