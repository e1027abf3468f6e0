import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { Centrifuge } from "centrifuge";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import {
  ExampleProcess,
  exampleFolder,
  exampleOptions,
} from "../../support/servers/example-process.ts";
import { Inbox } from "../../support/inbox.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { StartedServer } from "../../support/servers/started-server.ts";

let folder: string;
let port: number;
let dormousePort: number;
let dormouse: StartedServer;
let application: ExampleProcess;
/** The whole text with which the example's own model answers a question. */
let answerTo: (question: string) => string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  port = await freePort();
  dormousePort = await freePort();
  await startDormouse();
  application = await startApplication(port);
  const localModel: { answerTo: typeof answerTo } = await import(
    join(exampleFolder("ai-answer"), "local-model.js")
  );
  answerTo = (question) => localModel.answerTo(question);
});
afterAll(async () => {
  await application.kill();
  await dormouse.stop();
  rmSync(folder, { recursive: true });
});

/** Starts Dormouse for the example, with the state that it had. */
async function startDormouse(): Promise<void> {
  const options = exampleOptions("ai-answer", port);
  dormouse = await StartedServer.start(dormousePort, join(folder, "state"), options);
}

function startApplication(ownPort: number, variables = {}): Promise<ExampleProcess> {
  const own = { PORT: String(ownPort), DORMOUSE: `http://localhost:${dormousePort}` };
  return ExampleProcess.start("ai-answer", { ...own, ...variables });
}

describe("the backend of the answers in examples", () => {
  it("[Q8] believes nothing that Dormouse hasn't signed", async () => {
    const response = await fetch(`${application.address}/hooks/rpc`, { method: "POST" });
    expect(response.status).toBe(401);
  });

  it.for([
    ["delete", {}, 404],
    ["ask", { chat: "demo" }, 400],
    ["ask", { id: undefined }, 400],
    ["ask", { question: " \n" }, 400],
    ["ask", { question: "a".repeat(4_001) }, 400],
    ["cancel", { id: 7 }, 400],
  ] as const)("[Q2] refuses %s with %o", async ([method, wrong, code], test) => {
    const { client } = await reader(test);
    const right = { chat: randomUUID(), id: randomUUID(), question: "Who?" };
    await expect(client.rpc(method, { ...right, ...wrong })).rejects.toMatchObject({ code });
  });

  it("[Q2] answers a repeated question once, and doesn't know one that is cancelled before it is asked", async (test) => {
    const { client, chat, seen } = await reader(test);
    const asked = { chat, id: randomUUID(), question: "Who? Tell it in 10 words" };
    await client.rpc("cancel", asked);
    await Promise.all([client.rpc("ask", asked), client.rpc("ask", asked)]);
    await seen.first((values) => statusOf(values, asked.id) === "complete");
    await client.rpc("ask", asked);
    await client.rpc("cancel", asked);
    expect(Object.fromEntries(seen.all.at(-1) ?? [])).toEqual({
      [asked.id]: expect.objectContaining({ question: asked.question, status: "complete" }),
      [`${asked.id}/text`]: answerTo(asked.question),
    });
  });

  it("[Z38] lets a model that breaks off go on after its own text, and says when it doesn't", async (test) => {
    const model = await brokenModel(test);
    await application.kill();
    application = await startApplication(port, {
      MODEL_URL: model.address,
      MODEL_KEY: "secret",
      MODEL_OPTIONS: `{"model":"m-1","max_tokens":9}`,
    });
    const { client, chat, seen } = await reader(test);
    const first = { chat, id: randomUUID(), question: "Who wakes you?" };
    await client.rpc("ask", first);
    await seen.first((values) => statusOf(values, first.id) === "complete");
    const second = { chat, id: randomUUID(), question: "And then?" };
    await client.rpc("ask", second);
    const last = await seen.first((values) => statusOf(values, second.id) === "failed");
    expect(last.get(`${first.id}/text`)).toBe("A message, and the spring.");
    const question = { role: "user", content: first.question };
    const options = { model: "m-1", max_tokens: 9, stream: true };
    const whole = { role: "assistant", content: "A message, and the spring." };
    expect(model.asked).toEqual([
      { ...options, messages: [question] },
      { ...options, messages: [question, { role: "assistant", content: "A message" }] },
      { ...options, messages: [question, whole, { role: "user", content: second.question }] },
    ]);
    await application.kill();
    application = await startApplication(port);
  });
});

/** A client that reads a chat, as a page does. */
async function reader(test: TestContext) {
  const chat = randomUUID();
  const client = new Centrifuge(`ws://localhost:${dormousePort}/connection/websocket`);
  test.onTestFinished(() => client.disconnect());
  const seen = new Inbox<ReadonlyMap<string, unknown>>();
  const values = new Map<string, unknown>();
  const turns = client.newMapSubscription(`chat:${chat}`, { delta: "fossil" });
  turns.on("update", ({ key, data }) => {
    values.set(key, data);
    seen.push(new Map(values));
  });
  turns.subscribe();
  client.connect();
  await turns.ready();
  return { client, chat, seen };
}

function statusOf(values: ReadonlyMap<string, unknown>, id: string): unknown {
  const turn: { readonly status?: unknown } = Object(values.get(id));
  return turn.status;
}

function event(content: string, reason: string | null = null): string {
  const choices = [{ delta: { content }, finish_reason: reason }];
  return `data: ${JSON.stringify({ choices })}\n\n`;
}

/** A model whose connection is cut in its first answer, that goes on in the second, and refuses the third. */
async function brokenModel(test: TestContext) {
  const asked: object[] = [];
  const server = createServer(async (request, response) => {
    asked.push(Object(await json(request)));
    if (asked.length > 2) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    if (asked.length === 1) response.write(event("A message"), () => response.destroy());
    else response.end(`${event(", and the spring.", "stop")}data: [DONE]\n\n`);
  });
  const ownPort = await listen(server);
  test.onTestFinished(() => void server.close());
  return { address: `http://127.0.0.1:${ownPort}/v1`, asked };
}

const chromium = findChromium();

if (chromium === undefined) {
  it("no answer is tested in browsers: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  // Dormouse is started three times, and the answers are written as slowly as models write.
  describe("the answers in examples, in two browsers", { timeout: 240_000 }, () => {
    inBrowsers(chromium);
  });
}

/** However slow the machine is, the answers are longer than what is written while the steps of a test are taken. */
function inBrowsers(browser: string): void {
  it("[Z38] [Z41] end with the same text, whatever was reloaded, cut off and killed meanwhile", async (test) => {
    const question = "What does the dormouse dream of? Tell it in 6000 words";
    const whole = answerTo(question);
    const ada = await openChat(test, browser, application.address);
    await ask(ada, question);
    await ada.until(`${lengthShown} > 100`);
    await ada.send("Page.reload");
    await ada.until(`${lengthShown} > 200`);
    // Who comes late gets what is there at once.
    const bob = await openChat(test, browser, await ada.evaluate("location.href"));
    await grows(bob);

    await ada.network({ offline: true });
    await ada.sees("offline", "#status");
    const before = await shownText(ada);
    await grows(bob, charactersIn3Seconds);
    expect(await shownText(ada)).toBe(before);
    await ada.network({ offline: false });
    await ada.until(`${lengthShown} > ${before.length + charactersIn3Seconds}`);

    await application.kill();
    application = await startApplication(port);
    await Promise.all([grows(ada), grows(bob)]);

    await dormouse.kill();
    await startDormouse();
    await Promise.all([grows(ada), grows(bob)]);

    await Promise.all([dormouse.kill(), application.kill()]);
    await startDormouse();
    application = await startApplication(port);
    await Promise.all([grows(ada), grows(bob)]);
    expect(await ada.evaluate(`document.querySelector("article.writing") !== null`)).toBe("true");

    await application.kill();
    application = await startApplication(port, { TOKENS_PER_SECOND: "100000" });
    for (const page of [ada, bob]) {
      await page.until(`document.querySelector("article.complete") !== null`);
      expect(await shownText(page)).toBe(whole);
      expect(await page.evaluate("document.querySelectorAll('article').length")).toBe("1");
    }
  });

  it("[Z38] stop where a user cancels, and the chat goes on", async (test) => {
    const question = "How long is the winter? Tell it in 6000 words";
    const ada = await openChat(test, browser, application.address);
    await ask(ada, question);
    await ada.until(`${lengthShown} > 50`);
    const bob = await openChat(test, browser, await ada.evaluate("location.href"));
    await ask(bob, "And may I ask as well?");
    await bob.sees("the question before is being answered", "#problem");
    await bob.click("Stop");
    for (const page of [ada, bob]) await page.sees("It was stopped here.", ".cancelled .status");
    await ask(bob, "And the summer, in 20 words?");
    // The text has ended by then. What was appended while it was stopped may come after the status.
    for (const page of [ada, bob])
      await page.sees(answerTo("And the summer, in 20 words?"), "article.complete .answer");
    const text = await shownText(ada);
    expect(text).not.toBe(answerTo(question));
    expect(answerTo(question)).toContain(text);
    expect(await shownText(bob)).toBe(text);
    for (const scheme of ["light", "dark"] as const) {
      await ada.show(scheme, 390, 844);
      expect(await ada.accessibilityProblems()).toBe("");
      // A scroll bar takes some of it.
      expect(await ada.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe("true");
    }
    expect([...ada.problems, ...bob.problems]).toEqual([]);
  });

  it("[Z38] are written once by two processes, the second of which goes on when the first ends", async (test) => {
    const question = "Who guards the nest? Tell it in 6000 words";
    const ada = await openChat(test, browser, application.address);
    await ask(ada, question);
    await ada.until(`${lengthShown} > 50`);
    const fast = { TOKENS_PER_SECOND: "100000" };
    const second = await startApplication(await freePort(), fast);
    await grows(ada);
    await application.kill();
    application = second;
    await ada.until(`document.querySelector("article.complete") !== null`);
    expect(await shownText(ada)).toBe(answerTo(question));
  });
}

async function openChat(
  test: TestContext,
  browser: string,
  address: string,
): Promise<ControlledPage> {
  const page = await ControlledPage.openCuttable(test, browser, address);
  await page.sees("online", "#status");
  return page;
}

async function ask(page: ControlledPage, question: string): Promise<void> {
  await page.fill("#ask textarea", question);
  await page.press("Enter");
}

/** Waits until the answer in a page is longer than it was. */
async function grows(page: ControlledPage, by = 50): Promise<void> {
  const least = (await shownText(page)).length + by;
  await page.until(`${lengthShown} >= ${least}`);
}

/** The answer to the first question of a page's chat. */
function shownText(page: ControlledPage): Promise<string> {
  return page.evaluate(`document.querySelector(".answer").textContent`);
}
const lengthShown = `(document.querySelector(".answer")?.textContent.length ?? 0)`;

/** The example's model writes 40 tokens a second, of 4 to 5 characters each. */
const charactersIn3Seconds = 3 * 40 * 4.5;
