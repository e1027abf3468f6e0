import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { address, call, fetchWith, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { TestStream } from "../support/test-stream.ts";
import { token } from "../support/sign-token.ts";
import { patience } from "../../support/patience.ts";
import { watchedUpgrades } from "../support/watched-upgrades.ts";

configure({
  ...openConfig,
  client: {
    ...openConfig.client,
    ping_interval: "1s",
    stale_close_delay: "1s",
    queue_max_size: 65_536,
  },
});

function pathOf(channel: string, transport: string): string {
  return `/channel/${encodeURIComponent(channel)}/${transport}`;
}

describe("a stream on which nothing happens", () => {
  it.concurrent.each([
    ["sse", `data: {}\n\n`],
    ["uni_sse", `data: {}\n\n`],
    ["http_stream", "{}\n"],
    ["uni_http_stream", "{}\n"],
  ])("[T2] is pinged by the edge, while the object sets no alarm: %s", async (transport, ping) => {
    const oneWay = transport.startsWith("uni");
    // On the second, nobody sees who is there, so nobody is asked for pongs.
    const channel = newChannel(oneWay ? "plain" : "ring");
    const stream = await TestStream.open(
      `${pathOf(channel, transport)}?token=${await token({ sub: "ada" })}`,
      { method: "POST", body: oneWay ? "{}" : `{"id":1,"connect":{}}` },
    );
    expect(await stream.upTo(`"connect":`)).toContain("connect");
    await stream.upTo("\n");
    for (let count = 0; count < 2; count++) expect(await stream.upTo(ping)).toMatch(/^\n?\S*/);
    expect(await answeredAt(channel)).toBeInstanceOf(Date);
    const alarm = await runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) =>
      storage.getAlarm(),
    );
    // The rest of the time for a connect.
    expect(alarm ?? 0).toBeLessThan(Date.now() + 1_000);
    await stream.cancel();
  });
});

describe("a stream whose first frame is a pong", () => {
  it("[C1] [K3] is told 3501: the object sees the frame, which isn't the edge's own", async () => {
    const path = pathOf(newChannel("plain"), "http_stream");
    const stream = await TestStream.open(path, { method: "POST", body: "{}" });
    expect(await stream.rest()).toBe(
      `{"push":{"disconnect":{"code":3501,"reason":"bad request"}}}\n`,
    );
  });
});

describe("a stream to an object of the first release", () => {
  it.concurrent("[V1] [T2] is kept alive with that release's text, which no client sees", async () => {
    const channel = newChannel("plain");
    // That release doesn't say what the platform answers.
    const CHANNELS = watchedUpgrades(env.CHANNELS, async ({ name, request }) => {
      const { status, webSocket } = await env.CHANNELS.getByName(name).fetch(request);
      return new Response(null, { status, webSocket });
    });
    const path = `${pathOf(channel, "uni_http_stream")}?token=${await token({ sub: "ada" })}`;
    const request = new Request(address(path), { method: "POST", body: "{}" });
    const stream = new TestStream(await fetchWith({ CHANNELS }, request));
    expect(await stream.upTo("\n")).toContain("connect");
    await setAnswer(channel, new WebSocketRequestResponsePair("ping", "pong"));
    for (let count = 0; count < 2; count++) expect(await stream.upTo("\n")).toBe("{}\n");
    expect(await answeredAt(channel)).toBeInstanceOf(Date);
    // The object becomes one of this release. The edge goes on as before.
    await evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
    await setAnswer(channel, undefined);
    for (let count = 0; count < 2; count++) expect(await stream.upTo("\n")).toBe("{}\n");
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await stream.cancel();
  });
});

describe.each(["awake", "evicted"])("a client on a stream, its object %s", (state) => {
  async function settle(channel: string): Promise<void> {
    if (state === "evicted")
      await evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
  }

  describe.each(["sse", "http_stream"])("%s", (transport) => {
    async function subscribe(channel: string): Promise<{ stream: TestStream; reply: string }> {
      const connect = { id: 1, connect: { token: await token({ sub: "ada" }) } };
      const frame = [connect, { id: 2, subscribe: { channel } }];
      const stream = await TestStream.open(pathOf(channel, transport), {
        method: "POST",
        body: frame.map((command) => JSON.stringify(command)).join("\n"),
      });
      const reply = await stream.upTo(`"node":"channel:${channel}"}}`);
      await stream.upTo(`"id":2,"subscribe":`);
      await stream.upTo("\n");
      expect(await presentCount(channel)).toBe(1);
      await settle(channel);
      return { stream, reply };
    }

    it.concurrent("[K7] is closed with 3012 without a pong, and isn't present any more", async () => {
      const channel = newChannel("room");
      const { stream, reply } = await subscribe(channel);
      expect(reply).toContain(`"ping":1,"pong":true`);
      const openedAtMs = Date.now();
      const rest = await stream.rest();
      expect(Date.now() - openedAtMs).toBeLessThan(2_500);
      expect(rest.match(/\{\}/g)).toHaveLength(1);
      expect(rest).toContain(`{"push":{"disconnect":{"code":3012,"reason":"no pong"}}}`);
      await vi.waitFor(async () => expect(await presentCount(channel)).toBe(0), patience);
    });

    it.concurrent("[K7] stays with its pongs, and is closed with 3501 for one that nobody asked for", async () => {
      const channel = newChannel("room");
      const { stream, reply } = await subscribe(channel);
      const session = /"session":"([^"]+)"/.exec(reply)?.[1];
      const body = JSON.stringify({ session, node: `channel:${channel}`, data: "{}" });
      for (let count = 0; count < 2; count++) {
        await stream.upTo("{}");
        expect((await TestStream.post("/emulation", body, "application/json")).status).toBe(204);
        expect(await presentCount(channel)).toBe(1);
        await settle(channel);
      }
      await TestStream.post("/emulation", body, "application/json");
      expect(await stream.rest()).toContain(`"disconnect":{"code":3501,"reason":"bad request"}`);
      await vi.waitFor(async () => expect(await presentCount(channel)).toBe(0), patience);
    });
  });
});

describe("a unidirectional client on a stream", () => {
  it.concurrent("[K7] isn't asked for pongs, and stays", async () => {
    const channel = newChannel("room");
    const path = `${pathOf(channel, "uni_sse")}?token=${await token({ sub: "ada" })}`;
    const stream = await TestStream.open(path, { method: "POST", body: "{}" });
    expect(await stream.upTo("\n")).not.toContain("pong");
    for (let count = 0; count < 3; count++) await stream.upTo("data: {}\n\n");
    await stream.cancel();
  });
});

async function presentCount(channel: string): Promise<number> {
  const { body } = await call("presence_stats", { channel });
  return Number(/"num_clients":(\d+)/.exec(body)?.[1]);
}

/** What the platform answers for a channel's object; undefined for nothing. */
function setAnswer(channel: string, pair: WebSocketRequestResponsePair | undefined): Promise<void> {
  return runInDurableObject(env.CHANNELS.getByName(channel), (_, context) => {
    context.setWebSocketAutoResponse(pair);
  });
}

/** When the platform last answered the only socket of a channel's object. */
function answeredAt(channel: string): Promise<Date | null> {
  return runInDurableObject(env.CHANNELS.getByName(channel), (_, context) => {
    const [socket] = context.getWebSockets();
    if (socket === undefined) throw new Error("no socket");
    return context.getWebSocketAutoResponseTimestamp(socket);
  });
}

describe("a client that doesn't read its stream", () => {
  it("[T3] is cut with 3008 when more than client.queue_max_size waits at the edge", async () => {
    const channel = newChannel("plain");
    const stream = await TestStream.open(
      `${pathOf(channel, "uni_http_stream")}?token=${await token({ sub: "ada" })}`,
      { method: "POST", body: "{}" },
    );
    const filler = "x".repeat(30_000);
    for (let number = 0; number < 10; number++) await publish(channel, { number, filler });
    await expect
      .poll(async () => (await call("presence_stats", { channel })).body)
      .toContain(`"num_clients":0`);
    const lines = (await stream.rest()).trimEnd().split("\n");
    expect(lines.at(-1)).toBe(`{"disconnect":{"code":3008,"reason":"slow"}}`);
    // The bytes that the runtime had already taken; the others were dropped.
    expect(lines.length).toBeLessThan(4);
  });
});
