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
  return StartedServer.start(port, join(folder, "state"), exampleOptions("auction", pagesPort));
}

function inBrowsers(browser: string): void {
  it("[PC1] [PC2] [PC7] judges bids in their order, through a kill, and ends by its timer while nobody looks", async (test) => {
    const open = (name: string): Promise<ControlledPage> => openAuction(test, browser, name);
    const [ada, bob] = await Promise.all([open("ada"), open("bob")]);
    await bid(ada, 10);
    await ada.sees("Your bid of 10 was rejected: the auction isn't open yet.", "#answer");
    await call("open", { from: 10, seconds: 3_600 });
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

    for (const page of [ada, bob]) await page.send("Page.navigate", { url: "about:blank" });
    await call("hurry", { seconds: 1 });
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

/** Calls a procedure as the auctioneer does. */
async function call(procedure: string, args: object): Promise<void> {
  const { address, apiKey } = dormouse.welcome;
  const response = await fetch(`${address}/api/call`, {
    method: "POST",
    headers: { "X-API-Key": apiKey },
    body: JSON.stringify({ channel: "auction:7", procedure, args }),
  });
  expect(await response.json()).toHaveProperty("result");
}
