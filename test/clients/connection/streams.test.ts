import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freedMsMax } from "../../support/sockets/freed-ms-max.ts";
import { HttpStream } from "../../support/sockets/http-stream.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const config = {
  client: { queue_max_size: 65_536, ping_interval: "13s", stale_close_delay: "1s" },
  channel: {
    without_namespace: { allow_subscribe_for_client: true, presence: true },
  },
  http_stream: { enabled: true },
  sse: { enabled: true },
};

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

/** Opens a stream of a user that is subscribed to the channel. */
async function openStream(path: string, channel: string, user: string): Promise<HttpStream> {
  const frame = [
    { id: 1, connect: { token: signToken({ sub: user }) } },
    { id: 2, subscribe: { channel } },
  ];
  const body = frame.map((command) => JSON.stringify(command)).join("\n");
  const stream = await HttpStream.post(`${server.address}${path}`, body);
  await stream.until((text) => text.includes(`"id":2`));
  return stream;
}

/** From the last event to a time at which the object has certainly hibernated. */
const untilAsleepMs = 12_500;

const streams = [
  ["/connection/http_stream", "stream-of-gateway", () => server.gatewayAsleep(firstGateway)],
  ["/channel/stream/http_stream", "stream", () => server.asleep("stream")],
  ["/channel/events/sse", "events", () => server.asleep("events")],
] as const;

describe.each(streams)("a stream of %s", (path, channel) => {
  it("[T6] whose client hangs up soon frees its presence", async () => {
    const stream = await openStream(path, channel, "ada");
    expect(await server.backend.presence(channel)).toHaveLength(1);
    stream.hangUp();
    await expect
      .poll(() => server.backend.presence(channel), { timeout: freedMsMax })
      .toHaveLength(0);
  });

  it("[T3][F4] whose client stops reading is cut, and takes little memory", async () => {
    const stream = await openStream(path, channel, "slow");
    stream.stopReading();
    const filler = "x".repeat(200_000);
    for (let number = 1; number <= 200; number++) {
      await server.backend.publish(channel, { number, filler });
      if ((await server.backend.presence(channel)).length === 0) break;
    }
    expect(await server.backend.presence(channel)).toHaveLength(0);
    stream.readAgain();
    // The end follows the bytes in transit directly: nothing of the dropped bytes, and no message in part.
    expect(await stream.ended).toBe("end");
    expect(stream.text).toMatch(/"disconnect":\{"code":3008,"reason":"slow"\}\}\}\n+$/);
    expect(stream.text.length).toBeLessThan(20_000_000);
  });
});

/** Each waits until its object has hibernated: so they wait side by side. */
describe.concurrent.each(streams)("a quiet stream of %s", (path, channel, asleep) => {
  it("[T1][S2] lets its object hibernate, and is woken by a publication", async () => {
    const stream = await openStream(path, channel, "ada");
    // The first ping of the stream, which the runtime answers for the object, comes meanwhile.
    await pause(untilAsleepMs);
    expect(await asleep()).toBe(true);
    await server.backend.publish(channel, "good morning");
    await stream.until((text) => text.includes("good morning"));
    stream.hangUp();
  });
});
