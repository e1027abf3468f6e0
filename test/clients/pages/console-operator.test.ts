import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { buildConsole } from "../../../cli/build/build-console.ts";
import { findChromium } from "../../support/sockets/browser.ts";
import { ControlledPage } from "../../support/sockets/controlled-page.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";
import { firstGateway } from "../../support/sockets/variant.ts";

const chromium = findChromium();
const password = "a-password-of-the-console-for-tests";

if (chromium === undefined) {
  it("no operator looks: this machine has no Chromium", () => {
    expect(findChromium()).toBeUndefined();
  });
} else {
  describe("an operator who breaks things finds the reason in at most three clicks", () => {
    breaksThings(chromium);
  });
}

function breaksThings(browser: string): void {
  let server: TestServer;

  beforeAll(async () => {
    await buildConsole();
    const kept = {
      allow_subscribe_for_client: true,
      history_size: 2,
      history_ttl: "1m",
      force_recovery: true,
    };
    server = await TestServer.start({
      config: {
        console: { enabled: true },
        client: { allowed_origins: ["https://app.example.com"], queue_max_size: 65_536 },
        rpc: {
          // Nobody listens there.
          proxy: { endpoint: "http://127.0.0.1:9/rpc", timeout: "1s" },
          without_namespace: { proxy_enabled: true },
        },
        channel: { without_namespace: { ...kept, allow_tags_filter: true } },
      },
      secrets: {
        ...testSecrets,
        CONSOLE_PASSWORD: password,
        HOOK_SIGNING_SECRET: "hook-signing-secret-of-tests",
      },
    });
  });
  afterAll(() => server.close());

  const connect = (test: TestContext, user: string): SdkClient => {
    const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: user }) });
    test.onTestFinished(() => client.close());
    return client;
  };

  it("[N9] where something was refused, the first page says why", async (test) => {
    const operator = await Operator.logsIn(test, browser, server.address);
    const forged = `${signToken({ sub: "eve" }).slice(0, -8)}AAAAAAAA`;
    const eve = new SdkClient(server.gatewayAddress(), { token: forged });
    test.onTestFinished(() => eve.close());
    await expect(
      RawSocket.open(server.gatewayAddress(), { Origin: "https://other.example.com" }),
    ).rejects.toThrow("403");
    const ada = connect(test, "ada");
    await ada.connected.next();
    await expect(ada.client.rpc("ask", {})).rejects.toMatchObject({ code: 100 });

    const late = new SdkClient(server.gatewayAddress(), {
      token: signToken({ sub: "late", exp: Math.floor(Date.now() / 1_000) - 7_200 }),
    });
    test.onTestFinished(() => late.close());
    await server.backend.block("mallory");
    await connect(test, "mallory").disconnected.next();

    for (const reason of [
      "exp was 2 h ago",
      "the user is blocked",
      "the signature doesn't match TOKEN_HMAC_SECRET_KEY",
      "origin https://other.example.com isn't in client.allowed_origins",
      "rpc.proxy failed",
    ])
      await operator.page.sees(reason, "td");
    expect(operator.clicks).toBe(0);
  });

  it("[N9] where a gateway died, Why? says who came back and who didn't", async (test) => {
    const operator = await Operator.logsIn(test, browser, server.address);
    const lost = await RawSocket.connect(server.gatewayAddress(), signToken({ sub: "lost" }));
    await lost.ask({ id: 2, subscribe: { channel: "died" } });
    const back = connect(test, "back");
    const { subscribed: cameBack } = await back.subscribed("died");
    await server.endGateway(firstGateway);
    await server.backend.publish("died", { n: 1 });
    await cameBack.count(2);
    expect(await operator.asks("died", "back")).toBe("recovered");
    expect(await operator.asks("died", "lost")).toBe("no connection");
    // The gateway has started anew before or after the publication, as the client came back.
    await operator.page.sees("has had connections of the user, and none since it", "td");
    expect(operator.clicks).toBeLessThanOrEqual(3);
  });

  it("[N9] where a publication didn't arrive, Why? says what became of it", async (test) => {
    const operator = await Operator.logsIn(test, browser, server.address);

    const filtering = connect(test, "filtering");
    await filtering.subscribed("filtered", {
      tagsFilter: { key: "for", cmp: "eq", val: "others" },
    });
    await server.backend.publish("filtered", { n: 1 });
    expect(await operator.asks("filtered", "filtering")).toBe("filtered");
    expect(operator.clicks).toBeLessThanOrEqual(3);

    const away = connect(test, "away");
    const { subscription, subscribed } = await away.subscribed("missed");
    subscription.unsubscribe();
    for (let number = 0; number < 4; number++) await server.backend.publish("missed", { number });
    subscription.subscribe();
    await subscribed.count(2);
    expect(await operator.asks("missed", "away")).toBe("not recovered");

    const gone = connect(test, "gone");
    await gone.subscribed("left");
    gone.close();
    await gone.disconnected.next();
    await server.backend.publish("left", { n: 1 });
    expect(await operator.asks("left", "gone")).toBe("closed before");

    const slow = await RawSocket.connect(server.gatewayAddress(), signToken({ sub: "slow" }));
    await slow.ask({ id: 2, subscribe: { channel: "fast" } });
    slow.stopReading();
    const filler = "x".repeat(250_000);
    let outcome = "";
    for (let number = 0; number < 100 && outcome !== "slow"; number++) {
      const publishing = Array.from({ length: 20 }, () =>
        server.backend.publish("fast", { number, filler }),
      );
      await Promise.all(publishing);
      outcome = await operator.asks("fast", "slow");
      if (outcome === "closed before") break;
    }
    test.onTestFinished(() => slow.readAgain());
    expect(outcome).toMatch(/slow|closed before/);
    await operator.page.sees("3008");
  });
}

/** Somebody at the console. Clicks are counted; a line that is typed ends with Enter. */
class Operator {
  readonly page: ControlledPage;
  clicks = 0;

  static async logsIn(test: TestContext, browser: string, address: string): Promise<Operator> {
    const page = await ControlledPage.open(test, browser, `${address}/console`);
    await page.sees("Password", "label");
    await page.fill("#password", password);
    await page.press("Enter");
    await page.sees("Overview", "h1");
    return new Operator(page);
  }

  private constructor(page: ControlledPage) {
    this.page = page;
  }

  /** Asks from the first page why a channel's newest publication didn't reach a user. @returns the outcome */
  async asks(channel: string, user: string): Promise<string> {
    await this.page.evaluate('location.hash = "#/overview"');
    await this.page.sees("Overview", "h1");
    this.clicks = 0;
    await this.#click("Why?");
    await this.page.sees("Offset of the publication");
    await this.page.fill("#channel", channel);
    await this.page.fill("#who", user);
    await this.#click("Ask");
    await this.page.sees("Objects on the way");
    return this.page.evaluate('document.querySelector("tbody th").textContent');
  }

  async #click(text: string): Promise<void> {
    this.clicks++;
    await this.page.click(text);
  }
}
