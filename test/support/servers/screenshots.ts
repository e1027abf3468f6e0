/**
 * `npm run screenshots`: takes the pictures of the console in `docs/images`, from a server on a real port that has had a
 * minute of traffic: channels, edits, users, a map, and refusals.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { TestServer } from "./test-server.ts";
import { buildConsole } from "../../../cli/build/build-console.ts";
import { packageRoot } from "../../../cli/package-root.ts";
import { findChromium } from "../sockets/browser.ts";
import { ControlledPage } from "../sockets/controlled-page.ts";
import { RawSocket } from "../sockets/raw-socket.ts";
import { SdkClient } from "../sockets/sdk-client.ts";
import { signToken, testSecrets } from "../test-tokens.ts";

const password = "a-password-of-the-console-for-pictures";

/** A view of the console, and the picture of it. */
interface View {
  readonly file: string;
  readonly address: string;
  /** A text that the view has when it is complete. */
  readonly complete: string;
  readonly scheme: "light" | "dark";
  readonly width: 1_280 | 390;
  readonly height: number;
}

const overview = { address: "#/overview", complete: "Gateways that hold connections" };
const views: readonly View[] = [
  { ...overview, file: "console-overview", scheme: "light", width: 1_280, height: 860 },
  { ...overview, file: "console-overview-dark", scheme: "dark", width: 1_280, height: 860 },
  { ...overview, file: "console-phone", scheme: "dark", width: 390, height: 844 },
  {
    file: "console-channel",
    address: "#/channel?name=chat:harbour&hear=1",
    complete: "Hearing the channel.",
    scheme: "light",
    width: 1_280,
    height: 1_000,
  },
  {
    file: "console-map",
    address: "#/channel?name=board:plans",
    complete: "harbour walk",
    scheme: "light",
    width: 1_280,
    height: 1_000,
  },
  {
    file: "console-refusals",
    address: "#/refusals",
    complete: "isn't in client.allowed_origins",
    scheme: "light",
    width: 1_280,
    height: 860,
  },
  {
    file: "console-why",
    address: "#/why?channel=news&by=user&who=ada",
    complete: "Objects on the way",
    scheme: "light",
    width: 1_280,
    height: 880,
  },
];

async function takePictures(chromium: string): Promise<void> {
  await buildConsole();
  const server = await startServer();
  const endings: (() => Promise<void> | void)[] = [() => server.close()];
  try {
    const lifetime = { onTestFinished: (end: () => Promise<void>) => void endings.unshift(end) };
    const page = await ControlledPage.open(lifetime, chromium, `${server.address}/console/`);
    await page.show("light", 1_280, 860);
    await page.send("Emulation.setScrollbarsHidden", { hidden: true });
    await page.sees("Password", "label");
    await page.fill("#password", password);
    await page.press("Enter");
    await page.sees("Overview", "h1");
    const traffic = new Traffic(server);
    endings.unshift(() => traffic.end());
    await traffic.run(trafficMs);
    for (const view of views) {
      await page.show(view.scheme, view.width, view.height);
      await page.evaluate(`location.hash = ${JSON.stringify(view.address)}`);
      await page.sees(view.complete);
      // What is heard in a channel, and the plots in the new size.
      await traffic.run(settlingMs);
      await page.evaluate("scrollTo(0, 0); document.activeElement?.blur()");
      await page.picture(join(packageRoot, "docs", "images", `${view.file}.png`));
      console.log(`docs/images/${view.file}.png`);
    }
  } finally {
    for (const end of endings) await end();
  }
}

const trafficMs = 60_000;
const settlingMs = 3_000;

function startServer(): Promise<TestServer> {
  const kept = { allow_subscribe_for_client: true, history_size: 100, history_ttl: "10m" };
  const stream = { ...kept, force_recovery: true, presence: true, allow_tags_filter: true };
  const map = { subscription_type: "map", map: { mode: "persistent" } };
  return TestServer.start({
    config: {
      console: { enabled: true },
      client: { allowed_origins: ["https://app.example.com"] },
      channel: {
        without_namespace: stream,
        namespaces: [
          { ...stream, name: "chat", allow_change: true },
          { ...map, name: "board", allow_subscribe_for_client: true },
        ],
      },
    },
    secrets: { ...testSecrets, CONSOLE_PASSWORD: password },
  });
}

/** Users who come one after the other, and a backend that publishes all the time. */
class Traffic {
  readonly #server: TestServer;
  readonly #clients: SdkClient[] = [];
  #step = 0;

  constructor(server: TestServer) {
    this.#server = server;
  }

  async run(durationMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
      await this.#publish();
      if (this.#step % 2 === 0 && this.#clients.length < clientsMax) await this.#comes();
      if (this.#step === 10) await this.#setBoard();
      if (this.#step === 20) await this.#comesFiltering();
      if (this.#step === 60 || this.#step === 100) await this.#isRefused();
      this.#step++;
      await pause(stepMs);
    }
  }

  end(): void {
    for (const client of this.#clients) client.close();
  }

  async #publish(): Promise<void> {
    const { backend } = this.#server;
    const step = this.#step;
    const room = rooms[step % rooms.length] ?? "";
    const text = lines[step % lines.length] ?? "";
    const from = users[step % users.length] ?? "";
    const { offset } = await backend.publish(room, { from, text });
    if (step % 5 === 2) await backend.edit(room, offset, { from, text: `${text} (edited)` });
    if (step % 11 === 3) await backend.delete(room, offset, "spam");
    const tags = { topic: step % 2 === 0 ? "weather" : "traffic" };
    await backend.publishFields("news", { data: { headline: `Report ${step + 1}` }, tags });
  }

  async #comes(): Promise<void> {
    const number = this.#clients.length;
    const client = this.#connect(users[number % users.length] ?? "");
    await client.subscribed("news");
    const room = rooms[number % rooms.length];
    if (room !== undefined) await client.subscribed(room);
  }

  async #comesFiltering(): Promise<void> {
    const client = this.#connect("ada");
    await client.subscribed("news", { tagsFilter: { key: "topic", cmp: "eq", val: "sports" } });
  }

  async #setBoard(): Promise<void> {
    const { backend } = this.#server;
    const plans = [
      ["saturday", "harbour walk", "ada"],
      ["sunday", "bread and cheese", "grace"],
      ["monday", "back to work", "linus"],
    ] as const;
    for (const [day, plan, by] of plans) await backend.setKey("board:plans", day, { plan, by });
  }

  /** Tokens that somebody made up, and one that has expired; a page of another origin; a user who is blocked. */
  async #isRefused(): Promise<void> {
    const forged = `${signToken({ sub: "eve" }).slice(0, -8)}AAAAAAAA`;
    const late = signToken({ sub: "barbara", exp: Math.floor(Date.now() / 1_000) - 7_200 });
    for (const token of [forged, late]) {
      const refused = new SdkClient(this.#server.gatewayAddress(), { token });
      await refused.connecting.next();
      await pause(stepMs);
      refused.close();
    }
    const origin = { Origin: "https://other.example.com" };
    await RawSocket.open(this.#server.gatewayAddress(), origin).catch(() => undefined);
    await this.#server.backend.block("mallory");
    await this.#connect("mallory").disconnected.next();
  }

  #connect(user: string): SdkClient {
    const client = new SdkClient(this.#server.gatewayAddress(), {
      token: signToken({ sub: user }),
    });
    this.#clients.push(client);
    return client;
  }
}

const stepMs = 250;
const clientsMax = 40;
const rooms = ["chat:harbour", "chat:kitchen", "chat:library"];
const users = ["ada", "grace", "linus", "margaret", "edsger", "barbara", "donald", "frances"];
const lines = [
  "Good morning!",
  "Is the kettle on?",
  "The ferry is late again.",
  "See you at noon.",
];

const chromium = findChromium();
if (chromium === undefined) {
  console.error("This machine has no Chromium, which takes the pictures.");
  process.exitCode = 1;
} else await takePictures(chromium);
