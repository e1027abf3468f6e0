import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { PageServer } from "../../support/servers/page-server.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const chromium = findChromium();

if (chromium === undefined) {
  it("no page is tested in a browser: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("a page of an allowed origin in Chromium", () => {
    inBrowser(chromium);
  });
}

function inBrowser(browser: string): void {
  let server: TestServer;
  const pages: PageServer[] = [];

  beforeAll(async () => {
    while (pages.length < 6) pages.push(await PageServer.start());
    const enabled = { enabled: true };
    server = await TestServer.start({
      config: {
        client: { allowed_origins: pages.map(({ port }) => `http://127.0.0.1:${port}`) },
        sse: enabled,
        http_stream: enabled,
        uni_sse: enabled,
        uni_http_stream: enabled,
        channel: {
          without_namespace: {
            allow_subscribe_for_client: true,
            allow_publish_for_subscriber: true,
            presence: true,
          },
        },
      },
    });
  });
  afterAll(async () => {
    for (const page of pages) page.close();
    await server.close();
  });

  /** Runs a script in the page, which reports to a server of its own. That server is the page's origin too. */
  async function open(
    test: TestContext,
    nth: number,
    what: string,
    path: string,
    host = "127.0.0.1",
  ) {
    const page = pages[nth];
    if (page === undefined) throw new Error("there is no such page server");
    const channel = `browser-${nth}`;
    const task = {
      what,
      channel,
      address: `${server.address}${path.replace("<name>", channel)}`,
      emulation: `${server.address}/emulation`,
      token: signToken({ sub: "alice" }),
    };
    const fragment = encodeURIComponent(JSON.stringify(task));
    await ControlledPage.open(test, browser, `http://${host}:${page.port}/#${fragment}`);
    return { channel, reports: page.reports };
  }

  it.for([
    [0, "eventSource", "/channel/<name>/uni_sse"],
    [1, "fetchStream", "/connection/uni_http_stream"],
  ] as const)(
    "[T1] [T7] [T8] hears publications without an SDK: page %i, %s at %s",
    async ([nth, what, path], test) => {
      const { channel, reports } = await open(test, nth, what, path);
      const first = await reports.next();
      expect(first.push?.connect).toMatchObject({ subs: { [channel]: {} } });
      await server.backend.publish(channel, { text: "ä 🌍" });
      const received = await reports.first(({ push }) => push?.pub !== undefined);
      expect(received.push).toMatchObject({ channel, pub: { data: { text: "ä 🌍" } } });
    },
  );

  it.for([
    [2, "sse", "/connection/sse"],
    [3, "http_stream", "/channel/<name>/http_stream"],
  ] as const)(
    "[T1] [T7] connects, publishes and hears with the SDK: page %i, %s at %s",
    async ([nth, what, path], test) => {
      const { channel, reports } = await open(test, nth, what, path);
      await reports.first(({ event }) => event === "published");
      await server.backend.publish(channel, { from: "backend" });
      await reports.first(({ data }) => JSON.stringify(data) === '{"from":"backend"}');
      expect(reports.all).toEqual([
        { event: "connected", transport: what },
        { event: "subscribed" },
        { event: "publication", data: { from: "page" } },
        { event: "published" },
        { event: "publication", data: { from: "backend" } },
      ]);
      expect(await server.backend.presence(channel)).toMatchObject([{ user: "alice" }]);
    },
  );

  it.for([
    [4, "eventSource", "/connection/uni_sse"],
    [5, "fetchStream", "/channel/<name>/uni_http_stream"],
  ] as const)(
    "[A6] [T7] gets nothing when its origin is another name of the same machine: page %i, %s at %s",
    async ([nth, what, path], test) => {
      const { channel, reports } = await open(test, nth, what, path, "localhost");
      expect(await reports.next()).toEqual({ event: "refused" });
      expect(await server.backend.presence(channel)).toEqual([]);
    },
  );
}
