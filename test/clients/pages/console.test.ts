import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from "vitest";
import { buildConsole } from "../../../cli/build/build-console.ts";
import { collectorName } from "../../../src/features/metrics/collectors.ts";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import type { CollectedMetrics, ObjectPast } from "../../../src/features/metrics/metrics-report.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { patience } from "../../support/patience.ts";
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
          private_prefix: "!",
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
            {
              name: "pad",
              subscription_type: "map",
              map: { mode: "persistent", allow_publish_for_subscriber: true },
              allow_user_limited_channels: true,
            },
          ],
        },
      },
      secrets: { ...testSecrets, CONSOLE_PASSWORD: password },
    });
  });
  afterAll(() => server.close());

  it("[N2] [N5] [N6] [N12] [N19] [N20] [N29] logs in, publishes, hears, answers why and throws a user out", async (test) => {
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
    await page.sees("of them on gateways");
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

    // As the user, who hears nothing of it.
    await page.evaluate('location.hash = "#/connect?user=carol"');
    await page.click("Connect");
    await page.sees("Connected as carol");
    await page.fill("#as-channel", "news");
    await page.click("Subscribe");
    await page.sees('"subscribe":{}', ".tail");
    expect(await server.backend.presence("news")).toEqual([]);
    await server.backend.publish("news", { seen: "by carol" });
    await page.sees('{"seen":"by carol"}', ".tail");
    await page.evaluate('location.hash = "#/api"');
    await page.sees("/api/publish -H", "pre");
    await page.fill("#request", '{"channel":"news","data":1}');
    await page.click("Send");
    await page.sees('"offset": 4', "pre");
    await page.evaluate('location.hash = "#/channel?name=board:1"');
    await page.sees("The map is empty.");
    // The private prefix isn't a part of the namespace's name.
    await page.evaluate('location.hash = "#/channel?name=!board:1"');
    await page.sees("!board:1", "h1");
    await page.sees("The map is empty.");
    await page.evaluate('location.hash = "#/channel?name=board:1"');
    await page.sees("board:1", "h1");
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
      ["Namespaces", "Clients may not publish: “no allow_publish_for_… option lets this client”."],
      [
        "Namespaces",
        "Clients may not set keys: “no map.allow_publish_for_… option lets this client",
      ],
      ["Namespaces", "Every subscriber with a user may set keys."],
      ["Namespaces", "To a channel whose name ends with users, such as pad:#42, only these may"],
      ["Namespaces", "A map has at most 100,000 keys."],
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

  it("[J10] begins its plots with the past hour, of which the page has seen nothing", async (test) => {
    // Five a second, if they are in one interval.
    for (let batch = 0; batch < 6; batch++) {
      const numbers = Array.from({ length: 100 }, (_, number) => `${batch}/${number}`);
      const messages = numbers.map((data) => ({ data, idempotencyKey: data }));
      await server.backend.publishBatch("news", messages);
    }
    await vi.waitUntil(
      async () => {
        const texts = await Promise.all(collectors.map((name) => server.collected(name)));
        return texts.reduce((sum, text) => sum + publicationsIn(text), 0) >= 600;
      },
      // A report and its storing wait ten seconds each.
      { timeout: 2 * patience.timeout, interval: 200 },
    );
    // As if it had happened half an hour ago.
    const agoMs = 15 * metricsLimits.metricsPlotMs;
    for (const name of collectors) await server.collected(name, (text) => aged(text, agoMs));
    const page = await loggedIn(test, browser, `${server.address}/console`);
    await page.until("document.querySelector('main time') !== null");
    const since = Date.parse(await page.evaluate("document.querySelector('main time').dateTime"));
    expect(Date.now() - since).toBeGreaterThan(agoMs - metricsLimits.metricsPlotMs);
    expect(Date.now() - since).toBeLessThan(3_600_000);
    await page.until(`(${isPeakOnTheLeft})()`);
    expect(page.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
  }, 120_000);

  it("[J10] asks for the past again after a time in which the page wasn't visible, and only then", async (test) => {
    const page = await loggedIn(test, browser, `${server.address}/console`);
    await page.until("document.querySelector('main time') !== null");
    await page.evaluate(timePasses);
    await page.until("asked.length > 2");
    expect(await page.evaluate("JSON.stringify(asked.slice(0, 3))")).toBe("[false,true,false]");
    expect(page.problems.filter((problem) => !problem.includes("401"))).toEqual([]);
  });

  it("[N21] leads from the rule of a refusal to its text, which isn't loaded before", async (test) => {
    const wrong = { method: "POST", headers: { "X-API-Key": "wrong" }, body: "{}" };
    expect((await fetch(`${server.address}/api/info`, wrong)).status).toBe(401);
    const page = await loggedIn(test, browser, `${server.address}/console/#/refusals`);
    await page.sees("api info", "td");
    const loaded =
      "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('rules.json')).length";
    expect(await page.evaluate(loaded)).toBe("0");
    await page.tabTo("A7");
    await page.press("Enter");
    await page.sees("Rule A7", "h1");
    await page.focuses("#main");
    await page.sees("API keys are compared in constant time", ".answer");
    // Others of its part have links, too, and so have those that a text names.
    await page.sees("A1", "dt a");
    await page.fill("#id", "cu7");
    await page.press("Enter");
    await page.sees("A client marks and asks for its own user only", ".answer");
    await page.sees("dormouse.read", ".answer code");
    await page.click("B8");
    await page.sees("Rule B8", "h1");
    await page.evaluate('location.hash = "#/rule?id=ZZ1"');
    await page.sees("This server has no rule ZZ1.", ".problem");
    for (let back = 0; back < 4; back++) await page.evaluate("history.back()");
    await page.sees("Refusals", "h1");
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
      await page.show("light", 1_200, 900);
      problems[`${view} light`] = await page.accessibilityProblems();
      // Nothing but the colors is another.
      await page.show("dark", 1_200, 900);
      problems[`${view} dark`] = await page.accessibilityProblems(["color-contrast"]);
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
    for (const path of [
      "/console/",
      "/console/console.js",
      "/console/console.css",
      "/console/rules.json",
    ]) {
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

const collectors = Array.from({ length: metricsLimits.metricsCollectors }, (_, number) =>
  collectorName(number),
);

/** Opens a page of the console, and logs in. */
async function loggedIn(
  test: TestContext,
  browser: string,
  address: string,
): Promise<ControlledPage> {
  const page = await ControlledPage.open(test, browser, address);
  await page.sees("Password", "label");
  await page.fill("#password", password);
  await page.press("Enter");
  return page;
}

/** How many publications a collecting object has stored. */
function publicationsIn(text = '{"counters":[]}'): number {
  const { counters }: Pick<CollectedMetrics, "counters"> = JSON.parse(text);
  return counters
    .filter(({ series }) => series.startsWith("centrifugo_node_messages_sent_count"))
    .reduce((sum, { added }) => sum + added, 0);
}

/** What a collecting object has stored, as if it had done so earlier. */
function aged(text: string, byMs: number): string {
  const stored: { readonly reportedMs: number; readonly past: ObjectPast } = JSON.parse(text);
  const { reportedMs, past } = stored;
  const points = past.points.map((point) => ({
    ...point,
    interval: point.interval - byMs / past.intervalMs,
  }));
  const before = { ...past, sinceMs: past.sinceMs - byMs, points };
  return JSON.stringify({ ...stored, reportedMs: reportedMs - byMs, past: before });
}

/** Whether the line of publications is high in the left half of its plot. */
const isPeakOnTheLeft = `() => {
  const canvas = document.querySelectorAll(".plot canvas")[1];
  if (canvas === undefined) return false;
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width / 2, height / 2);
  const color = getComputedStyle(document.documentElement).getPropertyValue("--series-1").trim();
  const line = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] === 255 && line.every((part, index) => Math.abs(data[at + index] - part) < 8))
      return true;
  return false;
}`;

/** Notes whether the page asks for the past, and lets two minutes pass once it has taken the next answer. */
const timePasses = `{
  globalThis.asked = [];
  const { fetch } = globalThis;
  const { now } = Date;
  globalThis.fetch = async (path, request) => {
    const response = await fetch(path, request);
    if (!path.endsWith("/metrics") || asked.push(JSON.parse(request.body).past) > 1) return response;
    const text = await response.text();
    const json = async () => {
      setTimeout(() => (Date.now = () => now() + 120_000), 0);
      return JSON.parse(text);
    };
    return { ok: true, status: 200, json };
  };
}`;

/** All views, and a text that each has when it is complete. */
const views = [
  ["#/overview", "Gateways that hold connections"],
  ["#/channels", "Channels with subscribers"],
  ["#/channel?name=news", "Present: 1 user on 1 connection"],
  ["#/channel?name=board:1", "The map is empty."],
  ["#/rule?id=CU3", "A mark beyond the newest offset"],
  ["#/api", "The same in a shell"],
  ["#/connect", "You are the user then"],
  ["#/namespaces", "Every client with a user may subscribe."],
  ["#/users", "Users connected to gateways"],
  ["#/users?user=bob", "Connections: 1"],
  ["#/refusals", "Refusals since the counts began"],
  ["#/refusals?object=edge", "What edge remembers"],
  ["#/why?channel=news&offset=1&by=user&who=bob", "Objects on the way"],
  ["#/bill", "Today, by namespace"],
] as const;
