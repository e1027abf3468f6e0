import { expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { TestStream } from "../support/test-stream.ts";

const { without_namespace } = openConfig.channel;
configure({
  ...openConfig,
  client: { ...openConfig.client, allow_anonymous_connect_without_token: true },
  channel: {
    ...openConfig.channel,
    without_namespace: { ...without_namespace, allow_subscribe_for_anonymous: true },
  },
});

const payloadBytes = 700_000;

it("[B3][T3] readers that don't read hold no more of the edge together than memory bears", async () => {
  const channel = newChannel("");
  const path = `/channel/${encodeURIComponent(channel)}/uni_http_stream`;
  const streams: TestStream[] = [];
  for (let each = 0; each < 60; each++) {
    const stream = await TestStream.open(path, { method: "POST", body: "{}" });
    await stream.line();
    streams.push(stream);
  }
  // By its own measure alone each may hold two of them, besides the one that the runtime is handing on.
  for (let each = 0; each < 3; each++) await publish(channel, "x".repeat(payloadBytes));
  await expect
    .poll(() => presentCount(channel))
    .toBeLessThanOrEqual(limits.streamsBytesMax / payloadBytes);
  for (const stream of streams) await stream.cancel();
});

it("[T3] a reader that keeps up isn't cut with them", async () => {
  const channel = newChannel("");
  const path = `/channel/${encodeURIComponent(channel)}/uni_http_stream`;
  const open = () => TestStream.open(path, { method: "POST", body: "{}" });
  const reader = await open();
  await reader.line();
  const idle: TestStream[] = [];
  for (let each = 0; each < 60; each++) idle.push(await open());
  for (let each = 0; each < 3; each++) {
    await publish(channel, "x".repeat(payloadBytes));
    expect(await reader.line()).toContain('"pub":{"data":"xxx');
  }
  await reader.cancel();
  for (const stream of idle) await stream.cancel();
});

async function presentCount(channel: string): Promise<number> {
  const { body } = await call("presence_stats", { channel });
  return Number(/"num_clients":(\d+)/.exec(body)?.[1]);
}
