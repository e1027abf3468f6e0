import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { ExampleProcess, exampleOptions } from "../../support/servers/example-process.ts";
import { freePort } from "../../support/servers/listen.ts";
import { StartedServer } from "../../support/servers/started-server.ts";

let folder: string;
let dormouse: StartedServer;
let pages: ExampleProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  const port = await freePort();
  const options = exampleOptions("shared-board", port);
  dormouse = await StartedServer.start(await freePort(), join(folder, "state"), options);
  const variables = { PORT: String(port), DORMOUSE: dormouse.welcome.address };
  pages = await ExampleProcess.start("shared-board", variables);
});
afterAll(async () => {
  await pages.kill();
  await dormouse.stop();
  rmSync(folder, { recursive: true });
});

const chromium = findChromium();

if (chromium === undefined) {
  it("no board is tested in browsers: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("the shared board in examples, in two browsers", () => {
    inBrowsers(chromium);
  });
}

function inBrowsers(browser: string): void {
  it("[Z15] [Z20] shows both the cursors and the same list, also after one of them was offline", async (test) => {
    const open = (name: string): Promise<ControlledPage> => openBoard(test, browser, name);
    const [ada, bob] = await Promise.all([open("ada"), open("bob")]);
    await Promise.all([move(ada, 10, 20), move(bob, 30, 40)]);
    await ada.sees("➤ bob", "#cursors");
    await bob.sees("➤ ada", "#cursors");
    expect(await ada.evaluate(transform)).toBe("translate(30px, 40px)");
    for (const text of ["milk", "bread", "tea"]) await add(ada, text);
    await bob.sees("tea (ada)", "#list");

    await ada.network({ offline: true });
    await ada.sees("offline", "#status");
    await bob.evaluate(`${itemOf("milk")}.querySelector("button").click()`);
    await bob.evaluate(`${itemOf("bread")}.querySelector("input").click()`);
    await add(bob, "sugar");
    await bob.evaluate(`${itemOf("sugar")}.querySelector("button").click()`);
    await add(bob, "salt");
    await bob.sees("salt (bob)", "#list");
    expect(await ada.evaluate(shown)).toBe("milk (ada), bread (ada), tea (ada)");

    await ada.network({ offline: false });
    await ada.sees("online, got what was missed", "#status");
    await ada.sees("salt (bob)", "#list");
    expect(await bob.evaluate(shown)).toBe("bread (ada) done, tea (ada), salt (bob)");
    expect(await ada.evaluate(shown)).toBe(await bob.evaluate(shown));

    await move(ada, 50, 60);
    await bob.sees("➤ ada", "#cursors");
    await ada.send("Page.navigate", { url: "about:blank" });
    await bob.until(`document.getElementById("cursors").textContent === ""`);
    expect(bob.problems).toEqual([]);
  });
}

async function openBoard(
  test: TestContext,
  browser: string,
  name: string,
): Promise<ControlledPage> {
  const page = await ControlledPage.openCuttable(test, browser, `${pages.address}/?name=${name}`);
  await page.sees("online", "#status");
  return page;
}

async function move(page: ControlledPage, x: number, y: number): Promise<void> {
  await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
}

async function add(page: ControlledPage, text: string): Promise<void> {
  await page.fill("#add input", text);
  await page.click("Add");
  await page.sees(`${text} (`, "#list");
}

function itemOf(text: string): string {
  return `[...document.querySelectorAll("#list li")].find((item) => item.textContent.includes("${text}"))`;
}

/** The list as a page shows it. */
const shown = `[...document.querySelectorAll("#list li")].map((item) =>
  item.querySelector("label").textContent.trim() + (item.querySelector("input").checked ? " done" : "")).join(", ")`;

const transform = `document.querySelector(".cursor").style.transform`;
