import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExampleProcess, exampleOptions } from "../../support/servers/example-process.ts";
import { freePort } from "../../support/servers/listen.ts";
import { StartedServer } from "../../support/servers/started-server.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";

let folder: string;
let dormouse: StartedServer;
let application: ExampleProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  const port = await freePort();
  // With less patience than in the example.
  const options = exampleOptions("inbox", port).map((option) =>
    option
      .replace('"ping_interval":"10s"', '"ping_interval":"1s"')
      .replace('"notify_after":"30s"', '"notify_after":"3s"'),
  );
  dormouse = await StartedServer.start(await freePort(), join(folder, "state"), options);
  const variables = { PORT: String(port), DORMOUSE: dormouse.welcome.address };
  application = await ExampleProcess.start("inbox", variables);
});
afterAll(async () => {
  await application.kill();
  await dormouse.stop();
  rmSync(folder, { recursive: true });
});

const chromium = findChromium();

if (chromium === undefined) {
  it("no inbox is tested in browsers: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("the inbox in examples, in three browsers", () => {
    inBrowsers(chromium);
  });
}

function inBrowsers(browser: string): void {
  it("[CU1] [CU4] [CU12] [CU23] [CU26] [CU36] has badges, ticks, and mails for those who aren't there", async (test) => {
    const [ann, bob] = await Promise.all(["ann", "bob"].map((name) => open(test, browser, name)));
    if (ann === undefined || bob === undefined) throw new Error("a page is missing");
    await enter(ann, "team");
    for (const text of ["Are you there?", "Lunch?"]) await write(ann, text);
    await ann.sees("ann: Lunch?", "#log");
    await bob.sees("2", badgeOf("team"));
    await ann.sees("✓✓ delivered", "#log p:last-child");
    await enter(bob, "team");
    await bob.sees("ann: Lunch?", "#log");
    await ann.sees("✓✓ read", "#log p:last-child");
    expect(await bob.evaluate(isHidden(badgeOf("team")))).toBe("true");
    await bob.evaluate("location.reload()");
    await bob.sees("online", "#state");
    expect(await bob.evaluate(isHidden(badgeOf("team")))).toBe("true");

    await enter(ann, "lobby");
    await write(ann, "Who is in?");
    await bob.sees("1", badgeOf("lobby"));
    await enter(bob, "lobby");
    await ann.sees("seen by bob", "#log p:last-child");
    await application.lines.first((line) => line === "mail to carl: 1 unseen in room:lobby");
    const carl = await open(test, browser, "carl");
    await carl.sees("1", badgeOf("lobby"));
    await enter(carl, "lobby");
    await carl.sees("ann: Who is in?", "#log");
    await application.lines.first((line) => line.startsWith("no mail to carl any more"));
    expect(application.lines.all.filter((line) => line.startsWith("mail to "))).toHaveLength(1);
    for (const page of [ann, bob, carl]) expect(page.problems).toEqual([]);
  });

  it("looks right to axe, in the light and in the dark", async (test) => {
    const page = await open(test, browser, "ann");
    await enter(page, "team");
    await write(page, "Hello");
    await page.sees("ann: Hello", "#log");
    for (const scheme of ["light", "dark"] as const) {
      await page.show(scheme, 390, 844);
      expect(await page.accessibilityProblems()).toBe("");
    }
  });
}

async function open(test: TestContext, browser: string, name: string): Promise<ControlledPage> {
  const page = await ControlledPage.open(
    test,
    browser,
    `${application.address.split("?")[0]}?name=${name}`,
  );
  await page.sees("online", "#state");
  return page;
}

async function enter(page: ControlledPage, room: string): Promise<void> {
  await page.evaluate(`document.querySelector('[data-room="${room}"]').click()`);
}

async function write(page: ControlledPage, text: string): Promise<void> {
  await page.evaluate(`{
    const form = document.getElementById("message");
    form.elements.text.value = ${JSON.stringify(text)};
    form.requestSubmit();
  }`);
  await page.sees(text, "#log");
}

const badgeOf = (room: string) => `[data-room="${room}"] .badge:not([hidden])`;

const isHidden = (selector: string) =>
  `document.querySelector(${JSON.stringify(selector)}) === null`;
