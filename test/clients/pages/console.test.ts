import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildConsole } from "../../../cli/build/build-console.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";

const chromium = findChromium();
const password = "a-password-of-the-console-for-tests";

if (chromium === undefined) {
  it("no console is tested in a browser: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("the console in Chromium", () => {
    inBrowser(chromium);
  });
}

function inBrowser(browser: string): void {
  let server: TestServer;

  beforeAll(async () => {
    await buildConsole();
    server = await TestServer.start({
      config: {
        console: { enabled: true },
        client: { disallow_anonymous_connection_tokens: true },
        channel: {
          without_namespace: {
            allow_subscribe_for_client: true,
            history_size: 10,
            history_ttl: "1m",
            presence: true,
          },
          namespaces: [
            {
              name: "board",
              subscription_type: "map",
              map: { mode: "persistent" },
              allow_subscribe_for_client: true,
            },
          ],
        },
      },
      secrets: { ...testSecrets, CONSOLE_PASSWORD: password },
    });
  });
  afterAll(() => server.close());

  it("[N2] [N5] [N6] [N12] [N19] [N20] logs in, publishes, hears, answers why and throws a user out", async (test) => {
    const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "ada" }) });
    test.onTestFinished(() => client.close());
    const { publications } = await client.subscribed("news");
    const page = await ControlledPage.open(
      test,
      browser,
      `${server.address}/console/#/channel?name=news&hear=1`,
    );

    await page.sees("Password", "label");
    await page.fill("#password", "a wrong one");
    await page.press("Enter");
    await page.sees("This isn't the password.");
    await page.fill("#password", password);
    await page.press("Enter");
    // The link of `npm start` leads to a channel that is heard at once.
    await page.sees("Hearing the channel.");
    await page.click("Overview");
    await page.sees("Deliveries a second", ".tiles");

    await page.click("Channels");
    await page.sees("news", "td, th");
    await page.click("news");
    await page.sees("Connected through gateways");
    await page.sees("Present: 1 user on 1 connection", "caption");
    await page.click("Hear the channel");
    await page.sees("Hearing the channel.");
    await page.fill("#data", '{"from":"the console"}');
    await page.click("Publish");
    await page.sees("Published at offset 1.");
    await page.sees('{"from":"the console"}', ".tail");
    const { data } = await publications.next();
    expect(data).toEqual({ from: "the console" });
    // The console itself isn't among those that are present.
    expect(await server.backend.presence("news")).toMatchObject([{ user: "ada" }]);

    // Payloads are texts: JavaScript's numbers would be 9007199254740992, 1.5 and null (rule N12).
    const numbers = "[9007199254740993,1.50,1e400]";
    await page.fill("#data", numbers);
    await page.click("Publish");
    await page.sees("Published at offset 2.");
    await page.sees(numbers, "table");
    const history = await fetch(`${server.address}/api/history`, {
      method: "POST",
      headers: { "X-API-Key": testSecrets.API_KEY },
      body: '{"channel":"news","limit":10}',
    });
    expect(await history.text()).toContain(`"data":${numbers}`);

    await page.click("Why?");
    await page.sees("Why?", "h1");
    await page.evaluate('location.hash = "#/why?channel=news&offset=1&by=user&who=ada"');
    await page.sees("sent", "tbody th");

    await page.click("Users");
    await page.sees("ada", "tbody th a");
    await page.click("ada");
    await page.sees("Connections: 1");
    await page.click("Block");
    await page.sees("Blocked, and disconnected.");
    expect(await client.disconnected.next()).toMatchObject({ code: 3507 });

    // As the user who may do what the configuration lets every user do.
    await page.evaluate('location.hash = "#/connect?user=carol"');
    await page.click("Connect");
    await page.sees("Connected as carol");
    await page.fill("#as-channel", "news");
    await page.click("Subscribe");
    await page.sees('"subscribe":{}', ".tail");
    expect(await server.backend.presence("news")).toMatchObject([{ user: "carol" }]);
    await page.fill("#as-target", "news");
    await page.click("Publish");
    await page.sees('"code":103', ".tail");
    await page.evaluate('location.hash = "#/api"');
    await page.sees("/api/publish -H", "pre");
    await page.fill("#request", '{"channel":"news","data":1}');
    await page.click("Send");
    await page.sees('"offset": 3', "pre");
    await page.evaluate('location.hash = "#/channel?name=board:1"');
    await page.sees("The map is empty.");
    await page.fill("#key", "ada");
    await page.fill("#value", "[9007199254740993]");
    await page.click("Set");
    await page.sees("[9007199254740993]", "table");
    await page.click("Remove");
    await page.sees("The map is empty.");
    await page.click("Hear the channel");
    await page.sees("Hearing the channel.");
    await server.backend.append("board:1", "story", "Once upon");
    await page.sees("Once upon", "table");
    await server.backend.append("board:1", "story", " a time", { at: 9 });
    await page.sees("Once upon a time", "table");
    await page.click("Remove");
    await page.sees("The map is empty.");

    for (const [link, text] of [
      ["Namespaces", "Clients don't publish; backends do."],
      ["Refusals", "Newest"],
      ["Bill", "What that is a month is told after an hour."],
    ] as const) {
      await page.click(link);
      await page.sees(text);
    }
    // [J9] Today is beside the hour, on the day on which the counts began.
    await page.sees("UTC, from when the counts are known: $0 beyond the plan.", ".answer");
    await page.sees("Of what a month includes", "th");
    await page.click("Log out");
    await page.sees("Password", "label");
    // The wrong password and the first question without a login were answered with 401, and nothing else went wrong.
    expect(page.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
  });

  it("[N8] can be used by everybody, on a desk and on a phone, in light and in dark", async (test) => {
    const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "bob" }) });
    test.onTestFinished(() => client.close());
    await client.subscribed("news");
    const page = await ControlledPage.open(test, browser, `${server.address}/console`);
    await page.sees("Password", "label");
    const problems: Record<string, string> = {};
    const look = async (view: string) => {
      for (const scheme of ["light", "dark"] as const) {
        await page.show(scheme, 1_200, 900);
        problems[`${view} ${scheme}`] = await page.accessibilityProblems();
      }
      await page.show("light", 360, 740);
      const wider = "document.documentElement.scrollWidth > innerWidth";
      problems[`${view} is wider than a phone`] = (await page.evaluate(wider)).replace("false", "");
    };
    await look("login");
    await page.fill("#password", password);
    await page.press("Enter");
    for (const [address, text] of views) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.sees(text);
      await look(address);
    }
    expect(problems).toEqual(Object.fromEntries(Object.keys(problems).map((key) => [key, ""])));
  });

  it("[N8] can be walked through with the keyboard", async (test) => {
    const page = await ControlledPage.open(test, browser, `${server.address}/console`);
    await page.sees("Password", "label");
    // The field for the password has the focus.
    await page.send("Input.insertText", { text: password });
    await page.press("Enter");
    await page.sees("Overview", "h1");
    for (const name of [
      "Channels",
      "Users",
      "Namespaces",
      "Connect as",
      "Refusals",
      "Why?",
      "Bill",
      "API",
      "Overview",
    ]) {
      await page.tabTo(name);
      // The focus can be seen.
      const outline = "getComputedStyle(document.activeElement).outlineStyle";
      expect(await page.evaluate(outline)).not.toBe("none");
      await page.press("Enter");
      await page.sees(name, "h1");
      // The focus is in the new page, from where the next Tab leads into its content.
      await page.focuses("#main");
      await page.evaluate("document.querySelector('.skip').focus()");
    }
  });

  it("[N5] comes with headers that let nothing else run, be loaded or frame it", async () => {
    for (const path of ["/console/", "/console/console.js", "/console/console.css"]) {
      const { status, headers } = await fetch(`${server.address}${path}`);
      const policy = headers.get("Content-Security-Policy") ?? "";
      expect({ path, status }).toEqual({ path, status: 200 });
      for (const part of ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'"])
        expect(policy).toContain(part);
      expect(policy).not.toContain("unsafe");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    }
    const unknown = await fetch(`${server.address}/console/other.js`);
    expect(unknown.status).toBe(404);
  });

  it("[N5] is small enough to load on a phone", () => {
    const files = ["console.js", "console.css", "icon.svg"];
    const sizes = files.map((file) => gzipSync(readFileSync(`public/console/${file}`)).byteLength);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  });
}

/** All views, and a text that each has when it is complete. */
const views = [
  ["#/overview", "Gateways that hold connections"],
  ["#/channels", "Channels with subscribers"],
  ["#/channel?name=news", "Present: 1 user on 1 connection"],
  ["#/channel?name=board:1", "The map is empty."],
  ["#/api", "The same in a shell"],
  ["#/connect", "You are the user then"],
  ["#/namespaces", "Every user may subscribe."],
  ["#/users", "Users connected to gateways"],
  ["#/users?user=bob", "Connections: 1"],
  ["#/refusals", "Refusals since the counts began"],
  ["#/refusals?object=edge", "What edge remembers"],
  ["#/why?channel=news&offset=1&by=user&who=bob", "Objects on the way"],
  ["#/bill", "Today, by namespace"],
] as const;
