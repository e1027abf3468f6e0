import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { PageServer } from "../../support/servers/page-server.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const chromium = findChromium();

if (chromium === undefined) {
  it("no foreign page is tested in a browser: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("a page of another site, in the Chromium of a user who is logged in by a cookie", () => {
    inBrowser(chromium);
  });
}

function inBrowser(browser: string): void {
  let server: TestServer;
  let elsewhere: PageServer;

  beforeAll(async () => {
    const enabled = { enabled: true };
    elsewhere = await PageServer.start();
    server = await TestServer.start({
      config: {
        client: {
          allowed_origins: ["https://app.example.com"],
          token_cookie: "session",
          subscribe_to_user_personal_channel: { ...enabled, single_connection: true },
        },
        sse: enabled,
        uni_sse: enabled,
        long_poll: enabled,
        channel: {
          without_namespace: {
            allow_subscribe_for_client: true,
            allow_publish_for_client: true,
            presence: true,
            history_size: 10,
            history_ttl: "1m",
            force_recovery: true,
          },
        },
      },
    });
  });
  afterAll(async () => {
    elsewhere.close();
    await server.close();
  });

  const connect = { id: 1, connect: {} };
  const frames = {
    connect: JSON.stringify(connect),
    publish: `${JSON.stringify(connect)}\n{"id":2,"publish":{"channel":"news","data":"forged"}}`,
    subscribe: '{"subs":{"news":{}}}',
  };
  const paths = [
    `/connection/sse?cf_connect=${encodeURIComponent(frames.publish)}`,
    `/channel/news/sse?cf_connect=${encodeURIComponent(frames.publish)}`,
    `/connection/sse?cf_connect=${encodeURIComponent(frames.connect)}`,
    `/connection/uni_sse?cf_connect=${encodeURIComponent(frames.subscribe)}`,
    "/channel/news/uni_sse",
    "/channel/news/poll?timeout=1",
  ];

  /** A page, in a browser with the user's cookie; cookies don't know ports. */
  async function pageAt(test: TestContext, address: string): Promise<ControlledPage> {
    const page = await ControlledPage.open(test, browser, `${server.address}/health`);
    await page.sees("{}");
    await page.evaluate(
      `document.cookie = "session=${signToken({ sub: "ada" })}; Path=/; SameSite=Lax"`,
    );
    await page.send("Page.navigate", { url: address });
    return page;
  }

  /** Ada's own client, which a second connection of hers would end, and which would hear a publication. */
  async function ada(test: TestContext) {
    const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "ada" }) });
    test.onTestFinished(() => client.close());
    const { publications } = await client.subscribed("news");
    return { client, publications };
  }

  /** Nobody has connected or published as Ada, and her own client still hears the backend. */
  async function expectUntouched({ client, publications }: Awaited<ReturnType<typeof ada>>) {
    await server.backend.publish("news", "genuine");
    expect((await publications.next()).data).toBe("genuine");
    expect(publications.all).toHaveLength(1);
    expect(client.disconnected.all).toEqual([]);
    expect(client.reconnects).toBe(0);
    expect(await server.backend.presence("news")).toMatchObject([{ user: "ada" }]);
  }

  it("[A6] can't act as its visitor by leading the browser to an address", async (test) => {
    const user = await ada(test);
    const page = await pageAt(test, `http://localhost:${elsewhere.port}/`);
    for (const path of paths) {
      await page.evaluate(`location.href = ${JSON.stringify(server.address + path)}`);
      await page.sees("Forbidden");
      await page.send("Page.navigate", { url: `http://localhost:${elsewhere.port}/` });
      await page.sees("a page of another origin", "title");
    }
    expect(page.problems).not.toEqual([]); // Each refusal is one.
    await expectUntouched(user);
  });

  it("[A6] can't act as its visitor by showing an address, even on the same site", async (test) => {
    const user = await ada(test);
    const page = await pageAt(test, `http://127.0.0.1:${elsewhere.port}/`);
    await page.sees("a page of another origin", "title");
    for (const path of paths) {
      const address = JSON.stringify(server.address + path);
      const shown = `fetch(${address}, { mode: "no-cors", credentials: "include" })`;
      expect(await page.evaluate(`${shown}.then(({ type }) => type)`)).toBe("opaque");
    }
    await expectUntouched(user);
  });

  it("[A6] takes nothing from a page of the server's own origin, which connects by the cookie", async (test) => {
    const page = await pageAt(test, `${server.address}/health`);
    await page.sees("{}");
    const first = await page.evaluate(`new Promise((resolve, reject) => {
      const source = new EventSource("/channel/own/uni_sse");
      source.onmessage = ({ data }) => resolve(data);
      source.onerror = () => reject(new Error("refused"));
    })`);
    expect(JSON.parse(first)).toMatchObject({ connect: { subs: { own: {} } } });
    expect(await server.backend.presence("own")).toMatchObject([{ user: "ada" }]);
  });
}
