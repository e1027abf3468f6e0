import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { wranglerConfigOf } from "../../../cli/deployment/wrangler-config.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { Inbox } from "../../support/inbox.ts";
import { freePort } from "../../support/servers/listen.ts";
import { StartedServer } from "../../support/servers/started-server.ts";
import { packageRoot } from "../../../cli/package-root.ts";
const example = join(packageRoot, "examples", "shared-board");
const configFile = "examples/shared-board/wrangler.toml";

let folder: string;
let dormouse: StartedServer;
let pages: ChildProcess;
let address: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  const port = await freePort();
  // As `npm start -- --config …`, with the pages' port in place of 3000.
  const { vars } = wranglerConfigOf({ file: configFile });
  const config = JSON.stringify(vars["config"]).replaceAll("localhost:3000", `localhost:${port}`);
  const options = ["--config", configFile, "--var", `config:${config}`];
  dormouse = await StartedServer.start(await freePort(), join(folder, "state"), options);
  pages = startPages(port, dormouse.welcome.address);
  const lines = new Inbox<string>();
  if (pages.stdout !== null) createInterface(pages.stdout).on("line", (line) => lines.push(line));
  address = /http:\S+/.exec(await lines.first((one) => one.includes("http://")))?.[0] ?? "";
});
afterAll(async () => {
  pages.kill("SIGKILL");
  await dormouse.stop();
  rmSync(folder, { recursive: true });
});

/** Starts the example's server as its package.json says. */
function startPages(port: number, server: string): ChildProcess {
  const { scripts }: { scripts: { start: string } } = JSON.parse(
    readFileSync(join(example, "package.json"), "utf8"),
  );
  const [, ...words] = scripts.start.split(" ");
  const env = { ...process.env, PORT: String(port), DORMOUSE: server };
  return spawn(process.execPath, words, {
    cwd: example,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

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

    await network(ada, { offline: true });
    await ada.sees("offline", "#status");
    await bob.evaluate(`${itemOf("milk")}.querySelector("button").click()`);
    await bob.evaluate(`${itemOf("bread")}.querySelector("input").click()`);
    await add(bob, "sugar");
    await bob.evaluate(`${itemOf("sugar")}.querySelector("button").click()`);
    await add(bob, "salt");
    await bob.sees("salt (bob)", "#list");
    expect(await ada.evaluate(shown)).toBe("milk (ada), bread (ada), tea (ada)");

    await network(ada, { offline: false });
    await ada.sees("online, got what was missed", "#status");
    await ada.sees("salt (bob)", "#list");
    expect(await bob.evaluate(shown)).toBe("bread (ada) done, tea (ada), salt (bob)");
    expect(await ada.evaluate(shown)).toBe(await bob.evaluate(shown));

    await move(ada, 50, 60);
    await bob.sees("➤ ada", "#cursors");
    await ada.send("Page.navigate", { url: "about:blank" });
    await until(bob, `document.getElementById("cursors").textContent === ""`);
    expect(bob.problems).toEqual([]);
  });
}

async function openBoard(
  test: TestContext,
  browser: string,
  name: string,
): Promise<ControlledPage> {
  const page = await ControlledPage.open(test, browser, "about:blank");
  await page.send("Page.addScriptToEvaluateOnNewDocument", { source: reallyOffline });
  await page.send("Page.navigate", { url: `${address}/?name=${name}` });
  await page.sees("online", "#status");
  return page;
}

/** Chromium opens WebSockets also while it pretends to be offline: these go to a port where nobody listens. */
const reallyOffline = `globalThis.WebSocket = class extends WebSocket {
  constructor(address, ...others) {
    super(navigator.onLine ? address : "ws://127.0.0.1:1/", ...others);
  }
};`;

async function move(page: ControlledPage, x: number, y: number): Promise<void> {
  await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
}

async function add(page: ControlledPage, text: string): Promise<void> {
  await page.fill("#add input", text);
  await page.click("Add");
  await page.sees(`${text} (`, "#list");
}

/** Cuts a page off, or lets it back, as the developer tools do. */
async function network(page: ControlledPage, state: { readonly offline: boolean }): Promise<void> {
  const unlimited = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
  await page.send("Network.emulateNetworkConditions", { ...unlimited, ...state });
}

/** Waits until an expression is true in a page, looking at it before each frame that the browser draws. */
async function until(page: ControlledPage, expression: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => (${expression}) ? resolve() : requestAnimationFrame(look);
    look();
  })`);
}

function itemOf(text: string): string {
  return `[...document.querySelectorAll("#list li")].find((item) => item.textContent.includes("${text}"))`;
}

/** The list as a page shows it. */
const shown = `[...document.querySelectorAll("#list li")].map((item) =>
  item.querySelector("label").textContent.trim() + (item.querySelector("input").checked ? " done" : "")).join(", ")`;

const transform = `document.querySelector(".cursor").style.transform`;
