import { createHmac, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseEnv } from "node:util";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { cookieSocket, cookiesOf } from "../../support/sockets/cookie-socket.ts";
import {
  ExampleProcess,
  exampleFolder,
  exampleOptions,
} from "../../support/servers/example-process.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { StartedServer } from "../../support/servers/started-server.ts";

let folder: string;
let database: string;
let port: number;
let dormouse: StartedServer;
let rooms: ExampleProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  database = join(folder, "chat-rooms.sqlite");
  port = await freePort();
  const options = exampleOptions("chat-rooms", port);
  dormouse = await StartedServer.start(await freePort(), join(folder, "state"), options);
  rooms = await startRooms();
});
afterAll(async () => {
  await rooms.kill();
  await dormouse.stop();
  rmSync(folder, { recursive: true });
});

/** Starts the application in examples/chat-rooms. */
function startRooms(): Promise<ExampleProcess> {
  const variables = { PORT: String(port), DATABASE: database, DORMOUSE: dormouse.welcome.address };
  return ExampleProcess.start("chat-rooms", variables);
}

/** Logs a user in, and gives the cookie of the session. */
async function logIn(name: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ name });
  const response = await fetch(`${rooms.address}/login`, { method: "POST", headers, body });
  expect(response.status).toBe(204);
  return cookiesOf(response);
}

/** The connection of a page with this cookie; it ends with the test. */
function page(test: TestContext, cookie: string): SdkClient {
  const websocket = cookieSocket(cookie);
  const client = new SdkClient(dormouse.welcome.socketAddress, { websocket });
  test.onTestFinished(() => client.close());
  return client;
}

/** The page of a user who has just logged in. */
async function enter(test: TestContext, name: string): Promise<SdkClient> {
  const client = page(test, await logIn(name));
  await client.connected.count(1);
  return client;
}

/** The list of users that pages see now; undefined before the first one. */
async function listed(): Promise<readonly string[] | undefined> {
  const { publications } = await dormouse.backend.history("people:online");
  const { data }: { data?: unknown } = publications[0] ?? {};
  const { users }: { users?: readonly string[] } = Object(data);
  return users;
}

describe("the chat rooms in examples", () => {
  it("[Q2] let nobody in without a session, and nobody back in after the log-out", async (test) => {
    const stranger = page(test, "");
    expect(await stranger.disconnected.next()).toEqual({ code: 4501, reason: "log in first" });
    const cookie = await logIn("carl");
    const carl = page(test, cookie);
    await carl.connected.count(1);
    await fetch(`${rooms.address}/logout`, { method: "POST", headers: { Cookie: cookie } });
    expect(await carl.disconnected.next()).toEqual({ code: 4501, reason: "log in first" });
  });

  it("[Q2] keep private rooms private, filter words, and take invitations", async (test) => {
    const [ada, bob] = await Promise.all([enter(test, "ada"), enter(test, "bob")]);
    const [atAda, atBob] = await Promise.all([ada, bob].map((one) => one.subscribed("room:lobby")));
    await atAda?.subscription.publish({ text: "Oh drat, bob" });
    expect(await atBob?.publications.next()).toMatchObject({
      data: { text: "Oh ****, bob" },
      info: { user: "ada" },
    });
    await expect(bob.client.publish("room:lobby", "drat")).rejects.toMatchObject({ code: 400 });

    const isPrivate = { code: 403, message: "this room is private" };
    const staff = bob.subscribe("room:staff");
    const { code, reason } = await staff.unsubscribed.next();
    expect({ code, message: reason }).toEqual(isPrivate);
    const text = "Is anybody there?";
    await expect(bob.client.publish("room:staff", { text })).rejects.toMatchObject(isPrivate);
    const invitation = { user: "bob", room: "staff" };
    await expect(bob.client.rpc("invite", invitation)).rejects.toMatchObject({ code: 403 });
    expect(await ada.client.rpc("invite", invitation)).toEqual({ data: { invited: "bob" } });
    staff.subscription.subscribe();
    await staff.subscribed.count(1);
    await bob.client.publish("room:staff", { text });
    expect(await staff.publications.next()).toMatchObject({
      data: { text },
      info: { user: "bob" },
    });
  });

  it("[E5] [E11] know who is online after a restart, during which somebody left", async (test) => {
    const dan = await enter(test, "dan");
    const people = await dan.subscribed("people:online");
    await (await enter(test, "eve")).subscribed("people:online");
    await people.publications.first(isListOf("dan", "eve"));
    await rooms.kill();
    dan.close();
    await storedEvent("user_offline", "dan");
    expect(await listed()).toContain("dan");
    rooms = await startRooms();
    const after = await listed();
    expect(after).toContain("eve");
    expect(after).not.toContain("dan");
  });

  it("[E2] [E6] take an event once, and make the list anew if events are missing", async (test) => {
    const people = await (await enter(test, "gus")).subscribed("people:online");
    await (await enter(test, "fay")).subscribed("people:online");
    await people.publications.first(isListOf("gus", "fay"));
    const event = { object: "home/ghosts", type: "user_online", user: "ghost" };
    const came = { ...event, number: 5, first: true };
    expect(await send([came])).toBe(204);
    expect(await listed()).toContain("ghost");
    expect(await send([{ ...event, number: 6, type: "user_offline" }])).toBe(204);
    expect(await send([came])).toBe(204);
    expect(await listed()).not.toContain("ghost");
    expect(await send([{ ...event, number: 7 }])).toBe(204);
    expect(await listed()).toContain("ghost");
    expect(await send([{ ...event, type: "gap", from: 8, to: 8, number: 8 }])).toBe(204);
    expect(await listed()).toContain("fay");
    expect(await listed()).not.toContain("ghost");
    expect(await send([{ ...event, number: 9 }])).toBe(204);
    expect(await send([{ ...event, number: 11, user: "guest" }])).toBe(204);
    expect(await listed()).toEqual(expect.arrayContaining(["fay", "guest"]));
    expect(await listed()).not.toContain("ghost");
  });

  it("[Q8] believe nothing that Dormouse hasn't signed", async () => {
    const forged = [{ object: "home/ghosts", number: 99, type: "user_online", user: "forged" }];
    expect(await send(forged, "whsec_Zm9yZ2Vk")).toBe(401);
    const response = await fetch(`${rooms.address}/hooks/connect`, { method: "POST" });
    expect(response.status).toBe(401);
    expect(await listed()).not.toContain("forged");
  });

  // Without Chromium, browser.test.ts says so.
  const browser = findChromium();
  if (browser !== undefined)
    it("[ED13] [Q2] serve a page on which users change their messages, and a moderator those of others", async (test) => {
      const yan = await enter(test, "yan");
      const people = await yan.subscribed("people:online");
      const lobby = await yan.subscribed("room:lobby");
      const shown = await openAs(test, browser, "zoe");
      await people.publications.first(isListOf("yan", "zoe"));

      await shown.sees("You are in the lobby.");
      await shown.fill("[name=text]", "hello");
      await shown.press("Enter");
      await shown.sees("zoe: hello", "li");
      const { offset } = await lobby.publications.first(({ data }) => isText(data, "hello"));
      await shown.evaluate('window.prompt = () => "hello, drat"');
      await shown.evaluate(pressOn("zoe: hello", "Edit"));
      await shown.sees("zoe: hello, **** (edited)", "li");
      await shown.evaluate('window.prompt = () => "x".repeat(1_001)');
      await shown.evaluate(pressOn("zoe: hello", "Edit"));
      await shown.sees("write a text of at most 1,000 characters", "#status");
      // Another user's message is none of theirs, on the page or by a call.
      const ofZoe = { channel: "room:lobby", offset };
      await expect(yan.client.rpc("dormouse.delete", ofZoe)).rejects.toMatchObject({ code: 103 });
      await lobby.subscription.publish({ text: "cheap watches" });
      await shown.sees("yan: cheap watches", "li");
      expect(await shown.evaluate(buttonsOf("yan: cheap"))).toBe("");

      // The moderator's page reads the history: a message in its last form, with its writer.
      const moderated = await openAs(test, browser, "ada");
      await moderated.sees("zoe: hello, **** (edited)", "li");
      await moderated.evaluate('window.prompt = () => "bye"');
      await moderated.evaluate(pressOn("zoe: hello", "Edit"));
      for (const one of [moderated, shown]) await one.sees("zoe: bye (edited by ada)", "li");
      await moderated.evaluate(pressOn("yan: cheap", "Delete"));
      const messages = `document.querySelector("#messages").textContent`;
      for (const one of [moderated, shown]) await one.until(`!${messages}.includes("cheap")`);
      const late = await openAs(test, browser, "dan");
      await late.sees("zoe: bye (edited by ada)", "li");
      expect(await late.evaluate(messages)).not.toMatch(/cheap|hello, /);
    });
});

/** The page of a user, in a browser. */
async function openAs(test: TestContext, chromium: string, name: string): Promise<ControlledPage> {
  const cookie = await logIn(name);
  // Browsers send a cookie to all ports of a host, so that this server can log the browser in.
  const door = createServer((_, response) => {
    response.writeHead(302, { "Set-Cookie": cookie, Location: `${rooms.address}/` }).end();
  });
  test.onTestFinished(() => void door.close());
  return ControlledPage.open(test, chromium, `http://localhost:${await listen(door)}/`);
}

function isText(data: unknown, text: string): boolean {
  return JSON.stringify(data) === JSON.stringify({ text });
}

/** The buttons beside the message that begins so. */
function buttonsOf(message: string): string {
  return `[...${lineOf(message)}.querySelectorAll("button")].map((one) => one.textContent).join()`;
}

/** Presses a button beside the message that begins so. */
function pressOn(message: string, button: string): string {
  return `[...${lineOf(message)}.querySelectorAll("button")].find((one) => one.textContent === "${button}").click()`;
}

function lineOf(message: string): string {
  return `[...document.querySelectorAll("li")].find((one) => one.textContent.startsWith("${message}"))`;
}

/** Whether a publication is a list with these users. */
function isListOf(...names: readonly string[]) {
  return ({ data }: { readonly data: { readonly users?: readonly string[] } }) =>
    names.every((name) => data.users?.includes(name));
}

/** Waits until Dormouse has an event, in one of the objects from which the application has had events. */
async function storedEvent(type: string, user: string): Promise<void> {
  const file = new DatabaseSync(database, { readOnly: true });
  const objects = file.prepare("SELECT object FROM event_sources").all();
  file.close();
  const { address, apiKey } = dormouse.welcome;
  for (;;) {
    for (const { object } of objects) {
      const headers = { "X-API-Key": apiKey };
      const body = JSON.stringify({ object });
      const response = await fetch(`${address}/api/events`, { method: "POST", headers, body });
      const { result }: { result: { events: { type: string; user: string }[] } } = JSON.parse(
        await response.text(),
      );
      if (result.events.some((event) => event.type === type && event.user === user)) return;
    }
  }
}

/** Sends events as Dormouse does, and gives the status of the answer. */
async function send(events: readonly object[], secret = signingSecret()): Promise<number> {
  const [id, time] = [randomUUID(), String(Math.floor(Date.now() / 1_000))];
  const body = JSON.stringify({ events });
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  const response = await fetch(`${rooms.address}/events`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": time,
      "webhook-signature": `v1,${signature}`,
    },
    body,
  });
  return response.status;
}

/** The secret that `npm start` has written for Dormouse and the application. */
function signingSecret(): string {
  const secrets = parseEnv(readFileSync(join(exampleFolder("chat-rooms"), ".dev.vars"), "utf8"));
  return secrets["HOOK_SIGNING_SECRET"] ?? "";
}
