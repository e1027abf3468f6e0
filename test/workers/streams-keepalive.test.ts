import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, publish } from "./api-request.ts";
import { configure } from "./configure.ts";
import { newChannel } from "./new-channel.ts";
import { openConfig } from "./open-transports.ts";
import { TestStream } from "./test-stream.ts";
import { token } from "./sign-token.ts";

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
  it.each([
    ["sse", `data: {}\n\n`],
    ["uni_sse", `data: {}\n\n`],
    ["http_stream", "{}\n"],
    ["uni_http_stream", "{}\n"],
  ])("[T2] is pinged by the edge, while the object sets no alarm: %s", async (transport, ping) => {
    const channel = newChannel("plain");
    const oneWay = transport.startsWith("uni");
    const stream = await TestStream.open(
      `${pathOf(channel, transport)}?token=${await token({ sub: "ada" })}`,
      { method: "POST", body: oneWay ? "{}" : `{"id":1,"connect":{}}` },
    );
    expect(await stream.upTo(`"connect":`)).toContain("connect");
    await stream.upTo("\n");
    for (let count = 0; count < 2; count++) expect(await stream.upTo(ping)).toMatch(/^\n?\S*/);
    const received = await runInDurableObject(env.CHANNELS.getByName(channel), (_, context) => {
      const [socket] = context.getWebSockets();
      if (socket === undefined) throw new Error("no socket");
      return context.getWebSocketAutoResponseTimestamp(socket);
    });
    expect(received).toBeInstanceOf(Date);
    const alarm = await runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) =>
      storage.getAlarm(),
    );
    // The rest of the time for a connect.
    expect(alarm ?? 0).toBeLessThan(Date.now() + 1_000);
    await stream.cancel();
  });
});

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
