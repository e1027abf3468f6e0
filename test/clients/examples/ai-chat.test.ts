import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";
import { installExample } from "../../support/environments/installed-example.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";

const execute = promisify(execFile);
const chromium = findChromium();

let folder: string;
let rt: TestDormouse;
/** What closes the tabs. */
const tabs: (() => Promise<void>)[] = [];

const run = (program: string, ...options: readonly string[]) =>
  execute(join(folder, "node_modules", ".bin", program), options, { cwd: folder });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  await installExample(folder, "ai-chat");
  const bundle = ["--bundle", "--format=esm", `--outfile=${join("public", "client.js")}`];
  await run("esbuild", "client/index.tsx", ...bundle);
  const worker = join(folder, "src", "index.ts");
  rt = await startDormouse({ worker, prefix: "/realtime" });
}, 300_000);
afterAll(async () => {
  await Promise.all(tabs.map((end) => end()));
  await rt.stop();
  rmSync(folder, { recursive: true });
});

it("examples/ai-chat passes the compiler, with the package as it is packed", async () => {
  for (const project of [".", "client"]) await run("tsc", "--project", project);
  expect(await (await fetch(rt.origin)).text()).toContain("client.js");
}, 120_000);

const question = "How is the weather in Lisbon?";

describe.runIf(chromium !== undefined)("examples/ai-chat in Chromium", () => {
  let [one, two]: ControlledPage[] = [];
  let [chats, address] = [0, ""];

  beforeAll(async () => {
    const lifetime = { onTestFinished: (end: () => Promise<void>) => void tabs.push(end) };
    one = await ControlledPage.openCuttable(lifetime, chromium ?? "", "about:blank");
    two = await ControlledPage.open(lifetime, chromium ?? "", "about:blank");
  });
  beforeEach(async () => {
    address = `${rt.origin}/?${++chats}#chat-${chats}`;
    await load(first());
  });

  const first = () => one ?? fail();
  const second = () => two ?? fail();

  /** Opens or reloads the chat in a tab. */
  async function load(tab: ControlledPage): Promise<void> {
    await tab.send("Page.navigate", { url: "about:blank" });
    await tab.send("Page.navigate", { url: address });
    await tab.until('document.querySelector("form") !== null');
  }

  /** Both tabs are ready with the same messages: so many. @returns what they show */
  async function bothShow(messages: number): Promise<string> {
    const isReady = `document.querySelector("[role=status]").textContent === "ready" && document.querySelectorAll("li").length === ${messages}`;
    for (const tab of [first(), second()]) await tab.until(isReady);
    await expect.poll(() => shown(first())).toBe(await shown(second()));
    return shown(first());
  }

  /** The same, of which the second has joined just now, with each part of each answer once. */
  async function agree(messages: number): Promise<string> {
    await load(second());
    const text = await bothShow(messages);
    expect(text.split("stronger than it looks.")).toHaveLength(messages / 2 + 1);
    expect(text.split("output-available")).toHaveLength(messages / 2 + 1);
    expect(text.split("how the weather is just now.")).toHaveLength(messages / 2 + 1);
    return text;
  }

  it("is whole after a reload in the middle of reasoning, of a tool's input, of a text, also in a tab that joins", async () => {
    await ask(first());
    for (const part of ["em", "code", "p"]) {
      await begins(first(), part);
      await load(first());
    }
    await load(second());
    await begins(second(), "p");
    expect(await agree(2)).toContain(question);
  });

  it("waits for an approval over a reload, has what the page's tool gives, and goes on in both tabs", async () => {
    await ask(first(), "timeZone and order");
    await first().sees("approval-requested");
    await load(first());
    await load(second());
    await first().sees("Allow", "button");
    await second().sees("output-available", "code");
    await second().click("Allow");
    await first().sees("an ice cream", "p");
    const text = await bothShow(2);
    expect(text.split("output-available")).toHaveLength(3);
    expect(text).not.toContain("Allow");
  });

  it("is whole after five seconds in an airplane", async () => {
    await ask(first());
    await begins(first(), "em");
    await first().network({ offline: true });
    await rt.cut();
    await pause(5_000);
    await first().network({ offline: false });
    expect(await agree(2)).toContain(question);
  });

  it("stops from the tab that didn't begin it, after a reload, and is asked again", async () => {
    await load(second());
    await ask(first());
    await begins(second(), "em");
    await load(second());
    await begins(second(), "em");
    await second().click("Stop");
    for (const tab of [first(), second()]) {
      await tab.until('document.querySelector("[role=status]").textContent === "ready"');
      expect(await shown(tab)).not.toContain("than it looks");
    }
    await second().click("Again");
    await begins(first(), "p");
    await agree(2);
  });

  it("has one order of what two people write at once", async () => {
    await load(second());
    await first().fill("input", "Ann asks.");
    await second().fill("input", "Bob asks.");
    await Promise.all([first().click("Ask"), second().click("Ask")]);
    const text = await agree(4);
    expect(text).toContain("You asked: Ann asks.");
    expect(text).toContain("You asked: Bob asks.");
  });

  it("is whole after a kill -9 of the server and of the producer", async () => {
    await ask(first());
    await begins(first(), "p");
    // It kills workerd, which both are in, by SIGKILL, and starts another one on the same disk.
    await rt.deploy();
    await agree(2);
    expect(first().problems.filter((problem) => problem.includes("exception"))).toEqual([]);
  });
});

function fail(): never {
  throw new Error("there is no browser");
}

async function ask(tab: ControlledPage, text = question): Promise<void> {
  await tab.fill("input", text);
  await tab.click("Ask");
}

/** Waits until a part is there, in the middle of which the answer then is. */
const begins = (tab: ControlledPage, part: string) =>
  tab.until(`document.querySelector("li.assistant ${part}") !== null`);

const shown = (tab: ControlledPage) =>
  tab.evaluate(`[...document.querySelectorAll("li")].map((item) => item.innerText).join("\\n")`);
