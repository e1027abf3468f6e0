import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../../cli/package-root.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import {
  exampleFolder,
  ExampleProcess,
  exampleOptions,
} from "../../support/servers/example-process.ts";
import { freePort } from "../../support/servers/listen.ts";
import { StartedServer } from "../../support/servers/started-server.ts";

let folder: string;
let pagesPort: number;
let port: number;
let dormouse: StartedServer;
let pages: ExampleProcess;

const chromium = findChromium();

if (chromium === undefined) {
  it("no auction is tested in browsers: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("the auction in examples, in two browsers", () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
      for (const file of ["wrangler.toml", "worker.ts", "channels.ts"]) copy(file);
      [pagesPort, port] = [await freePort(), await freePort()];
      dormouse = await startDormouse();
      pages = await ExampleProcess.start("auction", {
        PORT: String(pagesPort),
        DORMOUSE: dormouse.welcome.address,
        // That of examples/.dev.vars.example, with which the server starts.
        TOKEN_HMAC_SECRET_KEY: "development-token-hmac-secret-key",
      });
    });
    afterAll(async () => {
      await pages.kill();
      await dormouse.stop();
      rmSync(folder, { recursive: true });
    });
    inBrowsers(chromium);
  });
}

/** The server with the code of the example, always with the same state. */
function startDormouse(): Promise<StartedServer> {
  const options = exampleOptions("auction", pagesPort, join(folder, "wrangler.toml"));
  return StartedServer.start(port, join(folder, "state"), options);
}

/** Copies a file of the example to where a test can change it. */
function copy(file: string, change: (text: string) => string = (text) => text): void {
  const text = readFileSync(join(exampleFolder("auction"), file), "utf8");
  writeFileSync(join(folder, file), change(text).replaceAll("../../", `${packageRoot}/`));
}

/** Deploys code that says something else about a bid that isn't the best: npm start runs a changed file anew. */
async function deploy(): Promise<void> {
  copy("channels.ts", (text) => text.replace("the best bid is", "somebody has bid"));
  await expect
    .poll(() => call("bid", { amount: 25 }).catch(() => undefined))
    .toEqual({
      error: { code: 1005, message: "somebody has bid 30" },
    });
}

function inBrowsers(browser: string): void {
  it("[PC1] [PC2] [PC7] judges bids in their order, through a kill and a deploy, and ends by its timer while nobody looks", async (test) => {
    const open = (name: string): Promise<ControlledPage> => openAuction(test, browser, name);
    const [ada, bob] = await Promise.all([open("ada"), open("bob")]);
    await bid(ada, 10);
    await ada.sees("Your bid of 10 was rejected: the auction isn't open yet.", "#answer");
    expect(await call("open", { from: 10, seconds: 3_600 })).toHaveProperty("result");
    await Promise.all([ada, bob].map((page) => page.sees("Bids begin at 10.", "#state")));

    // At the same time: one of them is the best, and the other one is told why it isn't.
    await Promise.all([bid(ada, 20), bid(bob, 20)]);
    const answers = await Promise.all([answerOf(ada), answerOf(bob)]);
    const won = "Your bid of 20 is the best one.";
    const lost = "Your bid of 20 was rejected: the best bid is 20.";
    expect(answers.toSorted()).toEqual([won, lost]);
    const best = answers[0] === won ? "ada" : "bob";
    await Promise.all([ada, bob].map((page) => page.sees(`${best} bids 20.`, "#state")));
    await bid(bob, 15);
    await bob.sees("Your bid of 15 was rejected: the best bid is 20.", "#answer");

    await dormouse.kill();
    await bob.sees("offline", "#status");
    // Made while nobody answers: it is sent when the server is back, and counts once.
    await bid(bob, 30);
    dormouse = await startDormouse();
    await bob.sees("Your bid of 30 is the best one.", "#answer");
    await ada.sees("bob bids 30.", "#state");

    await deploy();
    await bid(ada, 25);
    await ada.sees("Your bid of 25 was rejected: somebody has bid 30.", "#answer");

    for (const page of [ada, bob]) await page.send("Page.navigate", { url: "about:blank" });
    await hurry(test, browser);
    const late = await open("ada");
    await late.sees("Sold to bob for 30.", "#state");
    await bid(late, 40);
    await late.sees("Your bid of 40 was rejected: the auction is over.", "#answer");
    expect(late.problems).toEqual([]);
  });
}

async function openAuction(
  test: TestContext,
  browser: string,
  name: string,
): Promise<ControlledPage> {
  const page = await ControlledPage.openCuttable(test, browser, `${pages.address}/?name=${name}`);
  await page.sees("online", "#status");
  return page;
}

async function bid(page: ControlledPage, amount: number): Promise<void> {
  await page.fill("#bid input", String(amount));
  await page.click("Bid");
}

/** What a page says of its bid, once it is judged. */
async function answerOf(page: ControlledPage): Promise<string> {
  await page.sees("Your bid", "#answer");
  return page.evaluate(`document.getElementById("answer").textContent`);
}

/** Has the auction end soon, by the console, which shows the timer that it replaces and the calls before. */
async function hurry(test: TestContext, browser: string): Promise<void> {
  const address = `${dormouse.welcome.address}/console/#/channel?name=auction:7`;
  const page = await ControlledPage.open(test, browser, address);
  await page.sees("Password", "label");
  // That of examples/.dev.vars.example.
  await page.fill("#password", "development-console-password");
  await page.press("Enter");
  await page.sees("close", "tbody td code");
  await page.sees("rejected: 1005 somebody has bid 30", "tbody td");
  await page.evaluate('document.querySelector("#procedure").value = "hurry"');
  await page.fill("#args", '{"seconds":2}');
  await page.click("Call");
  await page.sees("It has returned nothing.");
  await page.send("Page.navigate", { url: "about:blank" });
}

/** Calls a procedure as the auctioneer does, and gives the answer. */
async function call(procedure: string, args: object): Promise<object> {
  const { address, apiKey } = dormouse.welcome;
  const response = await fetch(`${address}/api/call`, {
    method: "POST",
    headers: { "X-API-Key": apiKey },
    body: JSON.stringify({ channel: "auction:7", procedure, args }),
  });
  const answer: object = JSON.parse(await response.text());
  return answer;
}
