import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { beginAnswerClock, endAnswerClock, passAnswerTime } from "../support/answer-clock.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { type Variant, variants } from "../support/variant.ts";

configure({
  ...testConfig,
  channel: {
    ...testConfig.channel,
    namespaces: [
      ...testConfig.channel.namespaces,
      {
        name: "chat",
        allow_subscribe_for_client: true,
        allow_tags_filter: true,
        history_size: 100,
        history_ttl: "24h",
        force_recovery: true,
        cursors: { enabled: true },
      },
      { name: "quiet", allow_subscribe_for_client: true },
    ],
  },
});

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

async function delivered(channel: string, user = "ann"): Promise<object> {
  const { body } = await call("delivered", { user, channel });
  const { result }: { result?: object } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

/** Has the object ping, and waits for the ping, which comes after everything that was sent before. */
async function ping(variant: Variant, channel: string, socket: TestSocket): Promise<void> {
  await variant.runAlarmWhenDue(channel);
  for (;;) if ((await socket.line()) === "{}") return;
}

/** Answers the ping, a while later. */
async function pong(socket: TestSocket): Promise<number> {
  await passAnswerTime();
  vi.setSystemTime(Date.now() + 5);
  socket.sendFrame("{}");
  await socket.lineWith('"push":{"channel":""}');
  return Date.now();
}

/** The first alarm is for a connect that might never have come. */
async function subscribed(variant: Variant, channel: string, user = "ann"): Promise<TestSocket> {
  const socket = await variant.subscribe(channel, user);
  await variant.runAlarmWhenDue(channel);
  return socket;
}

describe.each(variants)("what has arrived, on $name", (variant) => {
  it("[CU12] a client that answers a ping has got what was sent before the ping, and not what came after", async () => {
    const channel = newChannel("chat");
    await publish(channel, "before");
    const socket = await subscribed(variant, channel);
    await variant.betweenSteps(channel);
    await publish(channel, 2);
    const { epoch } = await publish(channel, 3);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toStrictEqual({ offset: 0, epoch });
    await ping(variant, channel, socket);
    await publish(channel, 4);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toStrictEqual({ offset: 0, epoch });
    const atMs = await pong(socket);
    await variant.betweenSteps(channel);
    const known = { offset: 3, since: 1, epoch, by: "ping", at_ms: atMs };
    expect(await delivered(channel)).toStrictEqual(known);
    await variant.betweenSteps(channel);
    socket.close();
    await socket.closed;
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toStrictEqual(known);
  });
});
