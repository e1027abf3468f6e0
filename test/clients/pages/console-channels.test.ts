import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { buildConsole } from "../../../cli/build/build-console.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { shopApp, shopConfig, shopSecrets } from "../../support/servers/pusher-app.ts";
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
  { ...kept, name: "chat", allow_publish_for_client: true, allow_change: true },
  { ...map, name: "board", map: { mode: "persistent" } },
  { ...map, name: "pointers", map: { mode: "ephemeral", key_ttl: "1m" } },
  { ...kept, name: "mine", allow_user_limited_channels: true },
];

function looksAtChannels(browser: string): void {
  let server: TestServer;

  beforeAll(async () => {
    await buildConsole();
    const channel = {
      without_namespace: kept,
      namespaces: [...namespaces, ...shopConfig.channel.namespaces],
    };
    server = await TestServer.start({
      config: { console: { enabled: true }, channel, pusher: shopConfig.pusher },
      secrets: { ...secrets, ...shopSecrets },
    });
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

  it("[ED6] [ED14] [N31] an operator edits, deletes and erases after a question, and a sentence says what goes wrong", async (test) => {
    const ada = await present(test, server, "chat:1", "ada");
    for (const text of ["typo", "rude", "secret", "last"])
      await ada.client.publish("chat:1", { text });
    const page = await loggedIn(test, browser, server, "#/channel?name=chat:1&hear=1");
    await page.sees("Hearing the channel.");
    const ask = async (kind: "Edit" | "Delete" | "Erase", offset: number) => {
      const button = `document.querySelector('[aria-label="${kind} ${offset}"]')`;
      await page.until(`${button} !== null`);
      await page.evaluate(`${button}.click()`);
      await page.sees(`${kind} publication ${offset}?`, "dialog h2");
    };
    const isClosed = "document.querySelector('dialog') === null";

    // A question that is taken back changes nothing.
    await ask("Delete", 1);
    await page.click("Cancel");
    await page.until(isClosed);
    await ask("Edit", 1);
    await page.fill("#change-payload", "no JSON");
    await page.click("Save the edit");
    await page.sees("The payload isn't valid JSON.", "dialog");
    // The payload is published as it was typed (rule N12).
    await page.fill("#change-payload", "[1.50]");
    await page.click("Save the edit");
    await page.sees("Publication 1 has version 2 now. The change is publication 5.");
    await page.until(isClosed);
    await page.sees("Edits 1", ".tail");
    await page.sees("Edited", row(1));
    await page.sees("[1.50]", row(1));
    await page.sees("Edits 1", row(5));

    // Somebody else edits it while the operator is still asked.
    await ask("Edit", 1);
    await server.backend.edit("chat:1", 1, "other");
    await page.click("Save the edit");
    await page.sees(
      "Somebody has changed publication 1 meanwhile: it has version 3 now, and you saw version 2.",
      "dialog",
    );
    await page.sees('"other"', row(1));
    await page.sees("An edit that 6 has replaced", row(5));
    await page.click("Cancel");

    await ask("Delete", 2);
    await page.fill("#change-reason", "spam");
    await page.press("Enter");
    await page.sees("Deletes 2", ".tail");
    await page.sees(": spam", row(2));
    await ask("Erase", 3);
    await page.click("Erase it");
    await page.sees("Publication 3 is erased everywhere.");
    await page.sees("Erases 3", ".tail");
    await page.sees("Erased", row(3));
    // Who wrote it isn't there any more, and neither can be changed again.
    expect(await page.evaluate(`document.querySelectorAll('${row(3)}')[2].textContent`)).toBe("");
    expect(await page.evaluate(buttonsOf(3))).toBe("");
    expect(await page.evaluate(buttonsOf(2))).toBe("Erase");
    const table = await page.evaluate("document.querySelector('main > section table').innerText");
    for (const text of ["typo", "rude", "secret"]) expect(table).not.toContain(text);

    await ask("Edit", 4);
    await looksWell(page);
    await server.backend.removeHistory("chat:1");
    await page.click("Save the edit");
    await page.sees("The history doesn't keep publication 4 any more. Nothing was changed.");
    // A namespace without changes is asked for none (rule N28).
    await server.backend.publish("room:fixed", { n: 1 });
    await page.evaluate('location.hash = "#/channel?name=room:fixed"');
    await page.sees("the namespace has no allow_change");
    expect(await page.evaluate(buttonsOf(1))).toBe("");
    expect(page.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
  });

  it("[N32] an operator looks on as a client of the Pusher protocol, with every frame", async (test) => {
    const page = await loggedIn(test, browser, server, "#/connect");
    await page.sees("Dormouse's own", "option");
    await page.evaluate(`{
      const field = document.querySelector("#as-app");
      field.value = "${shopApp.id}";
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }`);
    await page.sees("The user who has signed in, if any");
    await page.click("Connect");
    await page.sees(`Connected as a client of ${shopApp.id}.`);
    await page.sees("pusher:connection_established", ".tail");
    for (const channel of ["open", "private-room", "presence-room"]) {
      await page.fill("#as-channel", channel);
      await page.click("Subscribe");
      await page.sees(`"pusher_internal:subscription_succeeded","channel":"${channel}"`, ".tail");
    }
    await server.backend.publish("shop:private-room", { sold: 1 });
    await page.sees('{"event":"message","channel":"private-room"', ".tail");
    expect(await server.backend.presence("shop:presence-room")).toEqual([]);
    await looksWell(page);
    await page.click("Disconnect");
    await page.sees("Disconnected with code");
    expect(page.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
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

/** The cells of a publication in the table. */
function row(offset: number): string {
  return `tr[data-offset="${offset}"] td`;
}

/** What an operator may do to a publication. */
function buttonsOf(offset: number): string {
  return `[...document.querySelectorAll('tr[data-offset="${offset}"] button')].map((one) => one.textContent).join()`;
}

/** Nothing of the page is hard to see, on a desk and on a phone, in light and in dark (rule N8). */
async function looksWell(page: ControlledPage): Promise<void> {
  for (const [scheme, width, height] of [
    ["light", 1_200, 900],
    ["dark", 1_200, 900],
    ["light", 360, 740],
  ] as const) {
    await page.show(scheme, width, height);
    expect(await page.accessibilityProblems()).toBe("");
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe("false");
  }
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
