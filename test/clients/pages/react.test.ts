import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { codeBlocksOf, codeFolder, configOf } from "../../support/documented-code.ts";
import { documentedScript, hooksScript, type ReactVersion } from "../../support/react-page.ts";
import { listen } from "../../support/servers/listen.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";

const open = { allow_subscribe_for_client: true };
const room = {
  ...open,
  allow_publish_for_subscriber: true,
  presence: true,
  history_size: 5,
  history_ttl: "10m",
  force_recovery: true,
  allow_history_for_subscriber: true,
  map_clients_presence_channel_prefix: "clients:",
  map_users_presence_channel_prefix: "users:",
  cursors: { enabled: true },
};
const ephemeral = { mode: "ephemeral", key_ttl: "60s" };
const namespaces = [
  { ...room, name: "room" },
  { ...open, name: "plain" },
  { name: "closed" },
  { ...open, name: "clients", subscription_type: "map_clients", map: ephemeral },
  { ...open, name: "users", subscription_type: "map_users", map: ephemeral },
  ...configOf(codeBlocksOf("react.md")[0]?.code ?? "").channel.namespaces,
];

const chromium = findChromium();
const folder = codeFolder();
let server: Server;
let rt: TestDormouse;
let origin: string;
const scripts = new Map<string, string>();

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", origin);
    const [user, channel] = [searchParams.get("user") ?? "ann", searchParams.get("channel")];
    if (pathname === "/token" || pathname === "/realtime/token")
      response.end(channel === null ? rt.token(user) : rt.subscriptionToken(user, channel));
    else if (pathname.endsWith(".js"))
      response.setHeader("Content-Type", "text/javascript").end(scripts.get(pathname));
    else {
      const address = `<script>address = ${JSON.stringify(rt.websocketUrl)}</script>`;
      const body = `<body><div id="root"></div>${address}<script type="module" src="${pathname}.js"></script>`;
      response.setHeader("Content-Type", "text/html").end(`<!doctype html>${body}`);
    }
  });
  origin = `http://127.0.0.1:${await listen(server)}`;
  const config = { client: { allowed_origins: [origin] }, channel: { namespaces } };
  rt = await startDormouse({ config });
});
afterAll(async () => {
  await endTab();
  server.close();
  server.closeAllConnections();
  await rt.stop();
  folder.remove();
});

/** What a test does with the page: each test has channels of its own. */
class Probe {
  readonly #tab: ControlledPage;
  readonly #suffix: string;

  constructor(tab: ControlledPage, suffix: string) {
    this.#tab = tab;
    this.#suffix = suffix;
  }

  name(channel: string): string {
    return `${channel}:${this.#suffix}`;
  }

  /** Changes who is logged in, and which components there are. */
  async show(state: object): Promise<void> {
    await this.#tab.evaluate(`void show(${JSON.stringify(state)})`);
  }

  async parts(...parts: readonly (readonly [kind: string, props: object])[]): Promise<void> {
    await this.show({ parts });
  }

  /** Waits until an element has this text. */
  async sees(id: string, text: string): Promise<void> {
    const look = async () => {
      const seen = await this.textOf(id);
      if (seen !== text) throw new Error(`${id} has the text ${seen} and not ${text}`);
    };
    await vi.waitFor(look, { timeout: 30_000, interval: 20 });
  }

  textOf(id: string): Promise<string> {
    return this.#tab.evaluate(`document.getElementById("${id}")?.textContent`);
  }

  evaluate(expression: string): Promise<string> {
    return this.#tab.evaluate(expression);
  }
}

async function publish(channel: string, ...all: readonly number[]): Promise<void> {
  for (const data of all) await rt.publish(channel, data);
}

/** Who is subscribed to a channel: the users of its connections. */
async function present(channel: string): Promise<readonly string[]> {
  const { presence } = await rt.api("presence", { channel });
  const clients: Readonly<Record<string, { readonly user: string }>> = Object(presence);
  return Object.values(clients).map(({ user }) => user);
}

/** The connection of all tabs is cut, and what follows comes before the page is back. */
async function cut(): Promise<void> {
  await rt.cut();
  await probe.sees("connection", "connecting fine");
}

/** Both versions have one browser. */
let tab: ControlledPage | undefined;
let endTab = async (): Promise<void> => undefined;
let probe: Probe;

describe.runIf(chromium !== undefined).each([18, 19] as const)(
  "dormouse-realtime/react in Chromium, in Strict Mode of React %i",
  (version) => {
    opensPages(version, chromium ?? "");
    mountsAndUnmounts();
    // The rest is the same code with both.
    if (version === 19) followsChannels();
    if (version === 19) followsState();
    if (version === 19) isDocumented();
  },
);

function opensPages(version: ReactVersion, browser: string): void {
  let nth = 0;

  beforeAll(async () => {
    scripts.set(`/${version}.js`, await hooksScript(version));
    const lifetime = { onTestFinished: (end: () => Promise<void>) => void (endTab = end) };
    tab ??= await ControlledPage.open(lifetime, browser, "about:blank");
  });
  beforeEach(async () => {
    if (tab === undefined) throw new Error("there is no browser");
    await tab.send("Page.navigate", { url: `${origin}/${version}` });
    probe = new Probe(tab, `${version}-${++nth}`);
    await probe.sees("connection", "connected fine");
  });
}

function mountsAndUnmounts(): void {
  it("several components share a connection and a subscription, which end with the last of them", async () => {
    const channel = probe.name("room");
    await probe.parts(["Room", { id: "one", channel }], ["Room", { id: "two", channel }]);
    await probe.sees("one", "subscribed fine whole ");
    await probe.sees("two", "subscribed fine whole ");
    expect(await probe.evaluate("sockets")).toBe("1");
    await publish(channel, 1);
    await probe.sees("one", "subscribed fine whole 1");
    await probe.sees("two", "subscribed fine whole 1");
    expect(await present(channel)).toEqual(["ann"]);
    await probe.parts(["Room", { id: "two", channel }]);
    await publish(channel, 2);
    await probe.sees("two", "subscribed fine whole 1,2");
    // A component that takes the place of another one goes on from there.
    await probe.parts(["Room", { id: "three", channel }]);
    await probe.sees("three", "subscribed fine whole 1,2");
    await probe.evaluate("end()");
    await expect.poll(() => present(channel)).toEqual([]);
    await expect.poll(() => probe.evaluate("connection.client.state")).toBe("disconnected");
  });

  it("shows each message once and in order, over a lost connection", async () => {
    const channel = probe.name("room");
    await publish(channel, 1, 2, 3);
    await probe.parts(["Room", { id: "one", channel, history: 2 }]);
    await probe.sees("one", "subscribed fine whole 2,3");
    // The reply comes after the publication, and would be lost with the connection.
    await probe.evaluate("one.publish(4)");
    await probe.sees("one", "subscribed fine whole 2,3,4");
    await cut();
    await publish(channel, 5, 6);
    await probe.sees("one", "subscribed fine whole 2,3,4,5,6");
    await probe.parts(["Room", { id: "one", channel, history: 5 }]);
    await probe.sees("one", "subscribed fine whole 2,3,4,5,6");
    expect(await probe.evaluate("sockets")).toBe("2");
  });

  it("has the messages of another channel or of another user's connection, and no others", async () => {
    const [channel, other] = [probe.name("room"), probe.name("room:other")];
    await publish(channel, 1);
    await publish(other, 10);
    await probe.parts(["Room", { id: "one", channel, history: 5 }]);
    await probe.sees("one", "subscribed fine whole 1");
    await probe.parts(["Room", { id: "one", channel: other, history: 5 }]);
    await probe.sees("one", "subscribed fine whole 10");
    await publish(channel, 2);
    await publish(other, 11);
    await probe.sees("one", "subscribed fine whole 10,11");
    expect(await present(channel)).toEqual([]);
    await probe.show({ user: "bob" });
    await expect.poll(() => probe.evaluate("sockets")).toBe("2");
    await probe.sees("one", "subscribed fine whole 10,11");
    await expect.poll(() => present(other)).toEqual(["bob"]);
  });
}

function isDocumented(): void {
  it("does what docs/react.md says, with the page's code", async () => {
    scripts.set("/documented.js", await documentedScript(folder.path, rt.websocketUrl));
    await tab?.send("Page.navigate", { url: `${origin}/documented` });
    await tab?.sees("online", "[role=status]");
    const bob = await rt.client({ user: "bob", subscribe: "chat:lobby" });
    await bob.sdk.publish("chat:lobby", { text: "hello" });
    await tab?.sees("bob: hello", "ol li");
    await tab?.sees("ann, bob");
    await tab?.sees("1", ".badge");
    await tab?.click("Read");
    await tab?.until('document.querySelector(".badge") === null');
    await tab?.click("Add");
    await tab?.sees("a note", "ul li");
    await tab?.click("Done");
    await tab?.until('document.querySelector("ul li") === null');
    await tab?.fill("input", "hello, Bob");
    await tab?.press("Enter");
    await tab?.sees("ann: hello, Bob", "ol li");
    await bob.close();
    expect(tab?.problems).toEqual([]);
  });
}

function followsChannels(): void {
  it("reads more of the history for a component that wants more", async () => {
    const channel = probe.name("room");
    await publish(channel, 1, 2, 3);
    const first = ["Room", { id: "one", channel, history: 1 }] as const;
    await probe.parts(first);
    await probe.sees("one", "subscribed fine whole 3");
    await probe.parts(first, ["Room", { id: "two", channel, history: 3 }]);
    await probe.sees("one", "subscribed fine whole 1,2,3");
    await expect.poll(() => probe.textOf("two")).toBe("subscribed fine whole 1,2,3");
  });

  it("has no hole after an absence that was too long for a recovery, or says that there is one", async () => {
    const [channel, other] = [probe.name("room"), probe.name("plain")];
    await publish(channel, 1);
    await probe.parts(
      ["Room", { id: "one", channel, history: 5 }],
      ["Room", { id: "two", channel: other }],
    );
    await probe.sees("one", "subscribed fine whole 1");
    await probe.sees("two", "subscribed fine whole ");
    await publish(other, 1);
    await probe.sees("two", "subscribed fine whole 1");
    await cut();
    await publish(channel, 2, 3, 4, 5, 6, 7);
    await publish(other, 2);
    await probe.sees("one", "subscribed fine whole 3,4,5,6,7");
    await publish(other, 3);
    await expect.poll(() => probe.textOf("two")).toBe("subscribed fine gap 1,3");
  });

  it("says why the server refuses a channel, and takes a token for it", async () => {
    const [channel, own] = [probe.name("closed"), probe.name("$room")];
    await probe.parts(
      ["Room", { id: "one", channel }],
      ["Room", { id: "two", channel: own, isPrivate: true }],
      ["Room", { id: "three" }],
    );
    await probe.sees("one", "unsubscribed 103 whole ");
    await probe.sees("two", "subscribed fine whole ");
    await probe.sees("three", "subscribing fine whole ");
    await expect(probe.evaluate("three.publish(1)")).rejects.toThrow("nothing is subscribed");
  });
}

function followsState(): void {
  it("shows who is there", async () => {
    const channel = probe.name("room");
    await probe.parts(
      ["Room", { id: "one", channel }],
      ["People", { channel: `clients:${channel}` }],
    );
    const bob = await rt.client({ user: "bob", subscribe: channel });
    await probe.sees("people", "ann,bob");
    await bob.close();
    await probe.sees("people", "ann");
    await probe.parts(
      ["Room", { id: "one", channel }],
      ["People", { channel: `users:${channel}`, of: "users" }],
    );
    await expect.poll(() => probe.textOf("people")).toBe("ann");
  });

  it("has the newest value of each key of a map, over a lost connection", async () => {
    const channel = probe.name("board");
    await rt.api("map_publish", { channel, key: "old", data: 1 });
    await probe.parts(["Board", { channel }]);
    await probe.sees("board", 'subscribed {"old":1}');
    await probe.evaluate('board.set("own", 2)');
    await probe.sees("board", 'subscribed {"old":1,"own":2}');
    await rt.cut();
    await probe.sees("board", 'subscribing {"old":1,"own":2}');
    await rt.api("map_remove", { channel, key: "old" });
    await rt.api("map_publish", { channel, key: "own", data: 3 });
    await expect.poll(() => probe.textOf("board")).toBe('subscribed {"own":3}');
  });

  it("counts what others wrote and the user hasn't read, over a lost connection", async () => {
    const channel = probe.name("room");
    await probe.parts(["Room", { id: "one", channel }], ["Unread", { channel }]);
    await probe.sees("unread", "0");
    await publish(channel, 1, 2);
    await probe.evaluate("one.publish(3)");
    await probe.sees("unread", "2");
    await probe.evaluate("void unread.markRead()");
    await probe.sees("unread", "0");
    await cut();
    await publish(channel, 4);
    await probe.evaluate("void unread.markRead(3)");
    await probe.sees("unread", "1");
    expect(await rt.api("unread", { user: "ann", channels: [channel] })).toMatchObject({
      channels: { [channel]: { unread: 1, read: 3 } },
    });
    await probe.parts(["Unread", { channel: probe.name("plain") }]);
    await probe.sees("unread", "108");
  });
}
