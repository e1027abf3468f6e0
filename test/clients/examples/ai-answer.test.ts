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
import { freePort } from "../../support/servers/listen.ts";
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

function startApplication(ownPort: number): Promise<ExampleProcess> {
  const variables = { PORT: String(ownPort), DORMOUSE: `http://localhost:${dormousePort}` };
  return ExampleProcess.start("ai-answer", variables);
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

function inBrowsers(browser: string): void {
  it("[Z38] [Z41] end with the same text, whatever was reloaded, cut off and killed meanwhile", async (test) => {
    const question = "What does the dormouse dream of? Tell it in 900 words";
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

    for (const page of [ada, bob]) {
      await page.until(`document.querySelector("article.complete") !== null`);
      expect(await shownText(page)).toBe(whole);
      expect(await page.evaluate("document.querySelectorAll('article').length")).toBe("1");
    }
  });

  it("[Z38] stop where a user cancels, and the chat goes on", async (test) => {
    const question = "How long is the winter?";
    const ada = await openChat(test, browser, application.address);
    await ask(ada, question);
    await ada.until(`${lengthShown} > 50`);
    const bob = await openChat(test, browser, await ada.evaluate("location.href"));
    await ask(bob, "And may I ask as well?");
    await bob.sees("the question before is being answered", "#problem");
    await bob.click("Stop");
    for (const page of [ada, bob]) await page.sees("It was stopped here.", ".cancelled .status");
    const text = await shownText(ada);
    expect(text).not.toBe(answerTo(question));
    expect(answerTo(question)).toContain(text);

    await ask(bob, "And the summer, in 20 words?");
    await ada.sees(answerTo("And the summer, in 20 words?"), "article.complete .answer");
    expect(await shownText(ada)).toBe(text);
    expect(await shownText(bob)).toBe(text);
    for (const scheme of ["light", "dark"] as const) {
      await ada.show(scheme, 390, 844);
      expect(await ada.accessibilityProblems()).toBe("");
      expect(await ada.evaluate("document.documentElement.scrollWidth")).toBe("390");
    }
    expect([...ada.problems, ...bob.problems]).toEqual([]);
  });

  it("[Z38] are written once by two processes, the second of which goes on when the first ends", async (test) => {
    const question = "Who guards the nest? Tell it in 300 words";
    const ada = await openChat(test, browser, application.address);
    await ask(ada, question);
    await ada.until(`${lengthShown} > 50`);
    const second = await startApplication(await freePort());
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

/** Waits until the answer in a page is longer than it was, or complete. */
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
