import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Centrifuge, DisconnectedContext, Subscription } from "centrifuge";
import { type TestContext, afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { Inbox } from "../../support/inbox.ts";
import { LaravelEnvironment } from "../../support/environments/laravel-environment.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { testSecrets } from "../../support/test-tokens.ts";
import { packageRoot } from "../../../cli/package-root.ts";
const tutorial = join(packageRoot, "examples", "tutorial");

/** The exports of examples/tutorial/page/chat.js. */
interface ChatPage {
  readonly connect: (ask: Ask, address: string) => Centrifuge;
  readonly enterRoom: (client: Centrifuge, room: string, ask: Ask, show: Shown) => Subscription;
  readonly send: (subscription: Subscription, text: string) => Promise<void>;
  readonly edit: (
    client: Centrifuge,
    subscription: Subscription,
    message: Message,
    text: string,
  ) => Promise<void>;
  readonly remove: (
    client: Centrifuge,
    subscription: Subscription,
    message: Message,
  ) => Promise<void>;
  readonly notify: (room: string, text: string, ask: Ask) => Promise<void>;
  readonly headersFor: (cookies: string) => Record<string, string>;
}

type Ask = (path: string, options?: { method: string; body: string }) => Promise<Response>;

interface Message {
  readonly offset: number;
  readonly version: number;
  readonly by: string;
  readonly text: string;
}

/** The states of a room as a page shows them: the whole room each time that it changes. */
class Shown {
  readonly allMessages = new Inbox<readonly string[]>();
  readonly allPresent = new Inbox<readonly string[]>();
  readonly problems = new Inbox<string>();
  #messages: readonly Message[] = [];

  messages = (all: readonly Message[]): void => {
    this.#messages = all;
    this.allMessages.push(all.map(({ by, text }) => `${by}: ${text}`));
  };
  present = (names: readonly string[]): void => this.allPresent.push(names);
  problem = (reason: string): void => this.problems.push(reason);

  /** Waits until the page shows these messages. */
  async untilMessages(...expected: readonly string[]): Promise<void> {
    await this.allMessages.first((shown) => isSame(shown, expected));
  }

  /** A message that is shown now. */
  message(text: string): Message {
    const found = this.#messages.find((one) => one.text === text);
    if (found === undefined) throw new Error(`${text} isn't shown`);
    return found;
  }

  async untilPresent(...expected: readonly string[]): Promise<void> {
    await this.allPresent.first((shown) => isSame(shown, expected));
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** A browser with its cookies, on the page of one backend. */
class Browser {
  readonly #backend: string;
  readonly #cookies = new Map<string, string>();

  constructor(backend: string) {
    this.#backend = backend;
  }

  /** `ask` of the page, which sends the cookies and stores those that it is given. */
  readonly ask: Ask = async (path, options) => {
    const cookies = this.cookies.join("; ");
    const headers = { ...page.headersFor(cookies), Cookie: cookies };
    const response = await fetch(`${this.#backend}${path}`, { ...options, headers });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  };

  get cookies(): readonly string[] {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`);
  }

  /** Gets the page and logs in. Rejects unless both succeed. */
  async logIn(name: string): Promise<void> {
    const body = JSON.stringify({ name });
    const got = await this.ask("/");
    const loggedIn = await this.ask("/login", { method: "POST", body });
    if (got.status !== 200 || loggedIn.status !== 204)
      throw new Error(`the page and the log-in were answered ${got.status}, ${loggedIn.status}`);
  }

  /** Opens the page, which enters a room. It is closed with the test. */
  open(test: TestContext, room: string, address = server.gatewayAddress()): Shown & Opened {
    const shown = new Shown();
    const client = page.connect(this.ask, address);
    test.onTestFinished(() => client.disconnect());
    const subscription = new SdkSubscription(page.enterRoom(client, room, this.ask, shown));
    return Object.assign(shown, { client, subscription });
  }
}

interface Opened {
  readonly client: Centrifuge;
  readonly subscription: SdkSubscription;
}

/** A backend: its name, and the command line that starts it on a port. */
interface Backend {
  readonly name: string;
  readonly start: (port: string) => readonly string[];
  /** The folder in which it is started. */
  readonly folder?: () => string;
}

const laravel = await LaravelEnvironment.open();

const backends: readonly Backend[] = [
  { name: "express", start: () => [process.execPath, "server.js"] },
  {
    name: "django",
    start: (port) => [python.interpreter, "-B", "manage.py", "runserver", "--noreload", port],
    folder: () => join(copy, "django"),
  },
  ...(laravel === undefined
    ? []
    : [
        {
          name: "laravel",
          start: (port: string) => laravel.serve(port),
          folder: () => {
            laravel.layOut(
              join(application, "laravel"),
              join(tutorial, "laravel"),
              join(tutorial, "page"),
            );
            return join(application, "laravel");
          },
        },
      ]),
];

if (laravel === undefined)
  it("the tutorial's chat with Laravel isn't tested: this machine has no packages of Debian with PHP and Laravel", () => {
    expect(laravel).toBeUndefined();
  });

let application: string;
/** A copy of the tutorial whose page, when a browser opens it, connects to this test's server. */
let copy: string;
let server: TestServer;
let python: PythonEnvironment;
let page: ChatPage;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  application = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  page = await import(join(tutorial, "page", "chat.js"));
  const config = JSON.parse(readFileSync(join(tutorial, "config.json"), "utf8"));
  server = await TestServer.start({
    config: { ...config, client: { allowed_origins: ["http://localhost:*"] } },
  });
  copy = join(application, "tutorial");
  cpSync(tutorial, copy, { recursive: true });
  const chat = join(copy, "page", "chat.js");
  const address = server.gatewayAddress().replace("127.0.0.1", "localhost");
  const text = readFileSync(chat, "utf8");
  writeFileSync(chat, text.replace("ws://localhost:8787/connection/websocket", address));
  const centrifuge = join(packageRoot, "node_modules", "centrifuge", "build", "index.mjs");
  cpSync(centrifuge, join(copy, "page", "centrifuge.js"));
  python = await PythonEnvironment.open();
}, 300_000);
afterAll(async () => {
  for (const one of processes) {
    const ended = once(one, "exit");
    one.kill("SIGKILL");
    if (one.exitCode === null) await ended;
  }
  await server.close();
  rmSync(application, { recursive: true });
});

/** Starts a backend, and gives its address. */
async function start(backend: Backend): Promise<string> {
  const port = String(await freePort());
  const [program = "", ...words] = backend.start(port);
  const started = spawn(program, words, {
    cwd: backend.folder?.() ?? join(tutorial, backend.name),
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      ...testSecrets,
      APPLICATION: join(application, "laravel"),
      PORT: port,
      DORMOUSE: server.address,
    },
  });
  processes.push(started);
  let errors = "";
  started.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const address = `http://127.0.0.1:${port}`;
  while (!(await isListening(address))) {
    if (started.exitCode !== null)
      throw new Error(`${backend.name} ended and had printed:\n${errors}`);
    await pause(50);
  }
  return address;
}

async function isListening(address: string): Promise<boolean> {
  try {
    await (await fetch(address)).body?.cancel();
    return true;
  } catch {
    return false;
  }
}

describe.each(backends)("[ED13] [W1] the tutorial's chat with $name", (backend) => {
  afterEach(() => server.backend.removeHistory("$room:lobby"));

  it("has private rooms with presence and history, and a page that was cut off misses nothing", async (test) => {
    const address = await start(backend);
    const [ada, bob, stranger] = [new Browser(address), new Browser(address), new Browser(address)];
    await Promise.all([ada.logIn("ada"), bob.logIn("bob")]);

    // Without a session there is no token, and so no connection.
    expect((await stranger.ask("/token")).status).toBe(403);
    const refused = stranger.open(test, "lobby");
    const { code } = await new Promise<DisconnectedContext>((resolve) => {
      refused.client.once("disconnected", resolve);
    });
    expect(code).toBe(1);

    // A room that is private: the backend gives bob no token, and Dormouse lets nobody in without one.
    const outside = bob.open(test, "staff");
    expect(await outside.problems.next()).toBe("unauthorized");
    await expect(outside.client.publish("$room:staff", {})).rejects.toMatchObject({ code: 103 });
    const bare = new SdkSubscription(outside.client.newSubscription("$room:lobby"));
    expect(await bare.unsubscribed.next()).toMatchObject({ code: 103 });
    outside.client.disconnect();

    // Presence.
    const network = await BreakableNetwork.to(server.address);
    test.onTestFinished(() => network.close());
    const first = ada.open(test, "lobby");
    await first.untilPresent("ada");
    const second = bob.open(test, "lobby", server.gatewayAddress(network.address));
    await Promise.all([first.untilPresent("ada", "bob"), second.untilPresent("ada", "bob")]);

    // A message for both, and the history after a reload.
    await page.send(first.subscription.subscription, "hello");
    await page.send(second.subscription.subscription, "<b>hi</b>");
    const said = ["ada: hello", "bob: <b>hi</b>"];
    await Promise.all([first.untilMessages(...said), second.untilMessages(...said)]);
    first.client.disconnect();
    await second.untilPresent("bob");
    const reloaded = ada.open(test, "lobby");
    await reloaded.untilMessages(...said);

    // A connection that is cut.
    network.break();
    await reloaded.untilPresent("ada");
    await page.send(reloaded.subscription.subscription, "are you there?");
    network.mend();
    const [, again] = await second.subscription.subscribed.count(2);
    expect(again).toMatchObject({ wasRecovering: true, recovered: true });
    await second.untilMessages(...said, "ada: are you there?");
    expect(second.problems.all).toEqual([]);
    await changesMessages({ ada, bob, adas: reloaded, bobs: second }, test);
  });
});

/** Users change their own messages, and a moderator those of others, who come late or not. */
async function changesMessages(
  {
    ada,
    bob,
    adas,
    bobs,
  }: Readonly<Record<"ada" | "bob", Browser>> & Readonly<Record<"adas" | "bobs", Shown & Opened>>,
  test: TestContext,
): Promise<void> {
  const [ofAda, ofBob] = [adas, bobs].map(({ client, subscription: { subscription } }) => ({
    edit: (message: Message, text: string) => page.edit(client, subscription, message, text),
    remove: (message: Message) => page.remove(client, subscription, message),
  }));
  const hello = adas.message("hello");
  await ofAda?.edit(hello, "hello, bob");
  const edited = ["ada: hello, bob", "bob: <b>hi</b>", "ada: are you there?"];
  for (const one of [adas, bobs]) await one.untilMessages(...edited);
  // The page had shown another version, and bob is no moderator.
  await expect(ofAda?.remove(hello)).rejects.toThrow("version_mismatch");
  await expect(ofBob?.edit(bobs.message("hello, bob"), "?")).rejects.toMatchObject({ code: 103 });
  await ofBob?.edit(bobs.message("<b>hi</b>"), "rude");
  await adas.untilMessages("ada: hello, bob", "bob: rude", "ada: are you there?");
  await ofAda?.remove(adas.message("rude"));
  await expect(page.notify("lobby", "closed", bob.ask)).rejects.toThrow("status 403");
  await page.notify("lobby", "open", ada.ask);
  const left = ["ada: hello, bob", "ada: are you there?", "notice: open"];
  for (const one of [adas, bobs, bob.open(test, "lobby")]) await one.untilMessages(...left);
}

// Without Chromium, browser.test.ts says so.
const chromium = findChromium();
if (chromium !== undefined)
  it("[ED13] [W1] the tutorial's page in a browser enters the lobby with its session, and a moderator's changes messages", async (test) => {
    const django = backends.find(({ name }) => name === "django");
    const address = django === undefined ? "" : await start(django);
    const [ada, bob] = [new Browser(address), new Browser(address)];
    await Promise.all([ada.logIn("ada"), bob.logIn("bob")]);
    // Browsers send a cookie to all ports of a host, so that this server can log the browser in.
    const door = createServer((_, response) => {
      const location = address.replace("127.0.0.1", "localhost");
      response.writeHead(302, { "Set-Cookie": [...ada.cookies], Location: location }).end();
    });
    test.onTestFinished(() => void door.close());
    const shown = bob.open(test, "lobby");
    const opened = await ControlledPage.open(
      test,
      chromium,
      `http://localhost:${await listen(door)}/`,
    );
    await shown.untilPresent("ada", "bob");
    await page.send(shown.subscription.subscription, "cheap watches");
    await opened.sees("bob: cheap watches", "li");
    await opened.fill("#message input", "hello");
    await opened.press("Enter");
    await opened.sees("ada: hello", "li");
    await opened.evaluate(`window.prompt = () => "no watches"`);
    await opened.click("Edit");
    await opened.sees("bob: no watches (edited by ada)", "li");
    await opened.click("Delete");
    await shown.untilMessages("ada: hello");
    await opened.fill("#message input", "open");
    await opened.click("Send as a notice");
    await shown.untilMessages("ada: hello", "notice: open");
    expect(shown.problems.all).toEqual([]);
  });
