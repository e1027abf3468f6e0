import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { buildConsole } from "../../../cli/build/build-console.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const chromium = findChromium();
const password = "a-password-of-the-console-for-tests";
const secrets = { ...testSecrets, CONSOLE_PASSWORD: password };

if (chromium === undefined) {
  it("no channel is looked at: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("what the console shows of channels", () => {
    looksAtChannels(chromium);
  });
  describe("the console of a server that keeps no users", () => {
    looksWithoutUsers(chromium);
  });
}

const open = { allow_subscribe_for_client: true };
const kept = { ...open, history_size: 10, history_ttl: "10m" };
const map = { ...open, subscription_type: "map" };
const mirror = { ...open, map: { key_ttl: "60s" } };
const namespaces = [
  {
    ...kept,
    name: "room",
    presence: true,
    map_clients_presence_channel_prefix: "clients:",
    map_users_presence_channel_prefix: "users:",
    cursors: { enabled: true, receipts: "subscriber", receipts_channel_prefix: "seen:" },
  },
  { ...mirror, name: "clients", subscription_type: "map_clients" },
  { ...mirror, name: "users", subscription_type: "map_users" },
  { ...mirror, name: "seen", subscription_type: "map_receipts" },
  { ...kept, name: "cache", history_size: 1, force_recovery: true, force_recovery_mode: "cache" },
  { ...open, name: "off" },
  { ...map, name: "board", map: { mode: "persistent" } },
  { ...map, name: "pointers", map: { mode: "ephemeral", key_ttl: "1m" } },
  { ...kept, name: "mine", allow_user_limited_channels: true },
];

function looksAtChannels(browser: string): void {
  let server: TestServer;

  beforeAll(async () => {
    await buildConsole();
    const channel = { without_namespace: kept, namespaces };
    server = await TestServer.start({ config: { console: { enabled: true }, channel }, secrets });
  });
  afterAll(() => server.close());

  it("[N30] the numbers of a channel that is heard are those of what is heard", async (test) => {
    const page = await loggedIn(test, browser, server, "#/channel?name=room:live");
    await page.until(isFact("Subscribers", "0"));
    await page.click("Hear the channel");
    await page.sees("Hearing the channel.");
    // The page looks on, and isn't one of them (rule N26).
    await page.until(isFact("Subscribers", "0"));
    for (const [number, caption] of [
      [1, "The newest publication"],
      [2, "The newest 2 publications"],
    ] as const) {
      await server.backend.publish("room:live", { number });
      await page.sees(`{"number":${number}}`, ".tail");
      await page.until(isFact("History", `${number} of 10`));
      await page.until(isFact("Newest offset", String(number)));
      await page.sees(`{"number":${number}}`, "tbody td");
      expect(await page.evaluate(captions)).toContain(caption);
    }
    const client = await present(test, server, "room:live", "ada");
    await server.backend.publish("room:live", { number: 3 });
    await page.sees("Present: 1 user on 1 connection", "caption");
    await page.until(isFact("Subscribers", "1"));
    client.close();
    await client.disconnected.next();
    await page.click("Stop");
    await page.until(isFact("Subscribers", "0"));
  });

  it("[N28] [Z21] a presence map shows who is there, with links to them, and can't be changed", async (test) => {
    // Four of them are there twice.
    for (let number = 0; number < 16; number++)
      await present(test, server, "room:full", `user-${number % 12}`);
    const page = await loggedIn(test, browser, server, "#/channel?name=users:room:full");
    await page.sees("12 users", "caption");
    await page.sees("user-11", "th a");
    await page.evaluate('location.hash = "#/channel?name=clients:room:full"');
    await page.sees("16 connections", "caption");
    await page.sees("user-11", "td a");
    await page.sees("The server alone changes these keys.");
    expect(await page.evaluate('document.querySelectorAll("#key").length')).toBe("0");
  });

  it(
    "[N28] no page has its own questions refused, and none runs numbers and nouns together",
    lasting,
    async (test) => {
      await staysAwake(test, server);
      await server.backend.publish("room:one", { n: 1 });
      await server.backend.publish("cache:one", { n: 1 });
      await server.backend.publish("off:one", { n: 1 });
      await server.backend.setKey("pointers:one", "ada", { x: 1 });
      await server.backend.setKey("board:one", "ada", { x: 1 });
      const gone = await present(test, server, "room:one", "gone");
      gone.close();
      await gone.disconnected.next();
      await server.backend.publish("room:one", { n: 2 });
      const page = await loggedIn(test, browser, server, "#/overview");
      await page.sees("Overview", "h1");
      await page.evaluate(notesFailures);
      for (const [address, text, selector = "body"] of views) {
        await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
        await page.sees(text, selector);
        // Every question of the view has been answered.
        await page.until("asking === 0");
        const shown = await page.evaluate("document.querySelector('main').innerText");
        for (const pattern of unreadable)
          expect({ address, found: pattern.exec(shown)?.[0] }).toStrictEqual({
            address,
            found: undefined,
          });
      }
      expect(await page.evaluate("failures.join()")).toBe("");
      expect(page.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
    },
  );

  it("[N28] says by itself that a namespace doesn't exist, and offers those that do", async (test) => {
    const page = await loggedIn(test, browser, server, "#/overview");
    await page.sees("Overview", "h1");
    await page.evaluate(notesFailures);
    for (const address of ["#/channel?name=sees:1", "#/why?channel=sees:1&by=user&who=ada"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.sees("The configuration has no namespace “sees”. It has: room, clients, users,");
    }
    await page.until("asking === 0");
    expect(await page.evaluate("failures.join()")).toBe("");
  });
}

function looksWithoutUsers(browser: string): void {
  let server: TestServer;

  beforeAll(async () => {
    await buildConsole();
    const client = { users: { enabled: false } };
    server = await TestServer.start({ config: { console: { enabled: true }, client }, secrets });
  });
  afterAll(() => server.close());

  it("[N28] says that it can't list them, and doesn't ask", async (test) => {
    const page = await loggedIn(test, browser, server, "#/overview");
    await page.sees("Overview", "h1");
    await page.evaluate(notesFailures);
    for (const address of ["#/channels", "#/users", "#/users?user=ada", "#/overview"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.sees("client.users.enabled", "p code");
      await page.until("asking === 0");
    }
    expect(await page.evaluate("failures.join()")).toBe("");
  });
}

/** A client that is subscribed to a channel. */
async function present(
  test: TestContext,
  server: TestServer,
  channel: string,
  user: string,
): Promise<SdkClient> {
  const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: user }) });
  test.onTestFinished(() => client.close());
  await client.subscribed(channel);
  return client;
}

/**
 * Keeps the gateway awake: one that sleeps, after 10 s in which nothing happens, forgets the connections that have ended,
 * and the pages that tell of them come late on a busy machine.
 */
async function staysAwake(test: TestContext, server: TestServer): Promise<void> {
  await present(test, server, "room:awake", "awake");
  const timer = setInterval(() => void server.backend.presence("room:awake"), 2_000);
  test.onTestFinished(() => clearInterval(timer));
}

/** It walks through all views. */
const lasting = { timeout: 180_000 };

async function loggedIn(
  test: TestContext,
  browser: string,
  server: TestServer,
  view: string,
): Promise<ControlledPage> {
  const page = await ControlledPage.open(test, browser, `${server.address}/console/${view}`);
  await page.sees("Password", "label");
  await page.fill("#password", password);
  await page.press("Enter");
  return page;
}

/** Whether the page says so of the channel. */
function isFact(name: string, value: string): string {
  return `[...document.querySelectorAll("dl.facts > div")].some((one) =>
    one.children[0].textContent === ${JSON.stringify(name)} && one.children[1].textContent === ${JSON.stringify(value)})`;
}

const captions =
  '[...document.querySelectorAll("caption")].map((one) => one.textContent).join("\\n")';

/** Counts the questions that the page asks, and keeps those that are refused. */
const notesFailures = `{
  globalThis.asking = 0;
  globalThis.failures = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (path, request) => {
    asking++;
    const response = await fetch(path, request);
    const text = await response.clone().text();
    if (!response.ok || text.startsWith('{"error"')) failures.push(path + " " + text);
    // The page draws what has come before the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => asking--));
    return response;
  };
}`;

/** One of several, a number and a duration that run together, and a part of nothing. */
const unreadable = [
  /(?<![\d.,])1 (?!ms\b|was\b|is\b|has\b)[a-z]+s\b/,
  /\d \d+ (?:ms|s|min|h)\b/,
  /\bof 0\b/,
];

/** All views, with a text that each has when it is complete, for none, one and two of what they show. */
const views: readonly (readonly [string, string, string?])[] = [
  ["#/channel?name=room:one", "The newest 2 publications", "caption"],
  ["#/channel?name=room:none", "Nothing is kept at the moment."],
  ["#/channel?name=cache:one", "The newest publication", "caption"],
  ["#/channel?name=off:one", "The namespace keeps no history."],
  ["#/channel?name=board:one", "The newest change", "caption"],
  ["#/channel?name=board:none", "The map is empty."],
  ["#/channel?name=pointers:one", "1 key", "caption"],
  ["#/channel?name=clients:room:one", "0 connections", "caption"],
  ["#/channel?name=users:room:one", "0 users", "caption"],
  ["#/channel?name=seen:room:one", "0 keys", "caption"],
  ["#/channel?name=mine:1%23ada", "Nothing is kept at the moment."],
  ["#/channel?name=$room:one", "Nothing is kept at the moment."],
  ["#/channel?name=alone", "Nothing is kept at the moment."],
  ["#/why?channel=room:one&by=user&who=gone", "didn't get to the only known connection", ".answer"],
  ["#/why?channel=room:one&by=user&who=nobody", "No connection of the user is known", ".answer"],
  ["#/why?channel=room:one&offset=9&by=user&who=gone", "Nothing has been published at", ".answer"],
  ["#/why?channel=room:none&by=user&who=gone", "Nothing has been published to the channel yet."],
  ["#/why?channel=board:one&by=user&who=gone", "Objects on the way"],
  ["#/why?channel=pointers:one&by=user&who=gone", "Objects on the way"],
  ["#/why?channel=off:one&by=user&who=gone", "The channel has no history"],
  ["#/channels", "Channels with subscribers"],
  ["#/users", "Users connected to gateways"],
  ["#/users?user=gone", "Not connected."],
  ["#/namespaces", "“users:room:…” shows “room:…”."],
  ["#/refusals", "Nothing was refused."],
  ["#/bill", "Today, by namespace"],
];
