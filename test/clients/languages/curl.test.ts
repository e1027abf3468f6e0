import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Curl, hasCurl } from "../../support/sockets/curl.ts";
import { freedMsMax } from "../../support/sockets/freed-ms-max.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { forgeries, signToken } from "../../support/test-tokens.ts";

const enabled = { enabled: true };
const config = {
  uni_sse: enabled,
  uni_http_stream: enabled,
  long_poll: enabled,
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      presence: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
    },
  },
};

if (hasCurl()) {
  describe("curl", () => {
    oneWay();
  });
} else {
  it("nothing is tested with curl: this machine has none", () => {
    expect(hasCurl()).toBe(false);
  });
}

function oneWay(): void {
  let server: TestServer;
  const token = signToken({ sub: "alice" });

  beforeAll(async () => {
    server = await TestServer.start({ config });
  });
  afterAll(() => server.close());

  /** Asks for a channel. */
  function requestFor(channel: string): string {
    return JSON.stringify({ token, subs: { [channel]: {} } });
  }

  /** The first event of a stream on a channel at offset 0, without its wrapper. */
  async function connected(channel: string): Promise<RegExp> {
    const { epoch } = await server.backend.history(channel);
    const subs = `{"${channel}":{"recoverable":true,"epoch":"${epoch}","positioned":true}}`;
    const about = `"client":"[0-9a-f-]{36}","version":"[^"]+ Dormouse","subs":${literal(subs)}`;
    return new RegExp(`\\{"connect":\\{${about},"ping":25,"session":"[0-9a-f]{64}"\\}\\}`);
  }

  it("[T8] hears publications with the first example of docs/transports.md", async (test) => {
    const page = readFileSync("docs/transports.md", "utf8");
    const [, example = ""] = /^curl -N '(.+uni_sse.*)'$/m.exec(page) ?? [];
    const address = example
      .replace("https://…", server.address)
      .replace("token=…", `token=${token}`);
    expect(address).not.toContain("…");
    const curl = new Curl(test, [address]);
    await curl.upTo("connect");
    await server.backend.publish("news", { text: "hello" });
    expect(await curl.upTo("pub")).toContain('"data":{"text":"hello"}');
  });

  describe.each([
    ["/channel/<name>", (channel: string) => `/channel/${channel}`],
    ["/connection", () => "/connection"],
  ])("at %s", (at, baseOf) => {
    const place = at === "/connection" ? "connection" : "channel";
    it("[T1] [T6] [T8] hears publications over uni_sse, byte for byte, and soon isn't present any more", async (test) => {
      const channel = `sse-${place}`;
      const request = encodeURIComponent(requestFor(channel));
      const address = `${server.address}${baseOf(channel)}/uni_sse?cf_connect=${request}`;
      const curl = new Curl(test, [address]);
      await curl.upTo("connect");
      await server.backend.publish(channel, { text: "ä 🌍\n<b>" });
      const opening = await connected(channel);
      const received = await curl.upTo("pub");
      const push = `{"channel":"${channel}","pub":{"data":{"text":"ä 🌍\\n<b>"},"offset":1,`;
      // Comments, by which the server detects a client's disconnect, may come between the events.
      expect(received.replaceAll(":\n\n", "")).toMatch(
        new RegExp(
          `^\\r\\ndata: ${opening.source}\\n\\ndata: ${literal(push)}"epoch":"\\w+"\\}\\}\\n\\n$`,
        ),
      );
      expect(await server.backend.presence(channel)).toMatchObject([{ user: "alice" }]);
      await curl.hangUp();
      expect(await freed(channel)).toBeLessThan(freedMsMax);
    });

    it("[T1] [T6] [T8] hears publications over uni_http_stream, byte for byte, and soon isn't present any more", async (test) => {
      const channel = `lines-${place}`;
      const address = `${server.address}${baseOf(channel)}/uni_http_stream`;
      const curl = new Curl(test, ["--data", requestFor(channel), address]);
      await curl.upTo("connect");
      await server.backend.publishAll(channel, [1, 2]);
      const opening = await connected(channel);
      const received = await curl.upTo('"data":2');
      const first = `{"channel":"${channel}","pub":{"data":1,"offset":1,`;
      const second = `{"channel":"${channel}","pub":{"data":2,"offset":2}}`;
      expect(received.replaceAll(/^ +/gm, "")).toMatch(
        new RegExp(
          `^${opening.source}\\n${literal(first)}"epoch":"\\w+"\\}\\}\\n${literal(second)}\\n$`,
        ),
      );
      await curl.hangUp();
      expect(await freed(channel)).toBeLessThan(freedMsMax);
    });

    it("[T8] [C3] gets the disconnect for a bad token on the stream, which ends", async (test) => {
      const forged = forgeries[0]?.forge({ sub: "alice" });
      const address = `${server.address}${baseOf(`bad-${place}`)}/uni_http_stream`;
      const body = JSON.stringify({ token: forged });
      const curl = new Curl(test, ["--data", body, "--write-out", "%{http_code}", address]);
      expect((await curl.ended).trimStart()).toBe(
        '{"disconnect":{"code":3500,"reason":"invalid token"}}\n200',
      );
    });
  });

  it("[T9] polls for what is newer: at once where there is something, and otherwise when it comes", async (test) => {
    const channel = "polled";
    const poll = (query: string) =>
      new Curl(test, [`${server.address}/channel/${channel}/poll?token=${token}${query}`]);
    const { epoch } = await server.backend.publishAll(channel, ["a", "b"]);
    expect(await poll("").ended).toBe(`{"publications":[],"offset":2,"epoch":"${epoch}"}`);
    expect(await poll(`&offset=1&epoch=${epoch}`).ended).toBe(
      `{"publications":[{"data":"b","offset":2}],"offset":2,"epoch":"${epoch}"}`,
    );
    expect(await poll(`&offset=2&epoch=${epoch}&timeout=1`).ended).toBe(
      `{"publications":[],"offset":2,"epoch":"${epoch}"}`,
    );
    expect(await poll("&offset=2&epoch=else").ended).toBe(
      `{"publications":[],"offset":2,"epoch":"${epoch}","recovered":false}`,
    );
    const waiting = poll(`&offset=2&epoch=${epoch}&timeout=30`);
    // Whether the poll waits already isn't observable, because a polling client isn't present.
    await server.backend.publish(channel, "c");
    expect(await waiting.ended).toBe(
      `{"publications":[{"data":"c","offset":3}],"offset":3,"epoch":"${epoch}"}`,
    );
  });

  async function freed(channel: string): Promise<number> {
    const startedAtMs = Date.now();
    while ((await server.backend.presence(channel)).length > 0) await pause(20);
    return Date.now() - startedAtMs;
  }
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
