import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { beginAnswerClock, endAnswerClock, passAnswerTime } from "../support/answer-clock.ts";
import { call, publish } from "../support/api-request.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { patience } from "../../support/patience.ts";
import { attachmentsOf } from "../support/attachments.ts";
import { blockObject } from "../support/block-object.ts";
import { crashObject } from "../support/crash-object.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { gatewayVariants, type Variant, variants } from "../support/variant.ts";

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

/** Has the alarm ring until the ping has come, which comes after everything that was sent before. */
async function ping(variant: Variant, channel: string, socket: TestSocket): Promise<void> {
  let lines: readonly string[] = [];
  while (!lines.includes("{}")) {
    await variant.runAlarmWhenDue(channel);
    lines = await socket.beforeFence();
  }
}

/** Answers the ping, a while later. */
async function pong(socket: TestSocket): Promise<number> {
  await passAnswerTime();
  vi.setSystemTime(Date.now() + 5);
  socket.sendFrame("{}");
  await socket.lineWith('"push":{"channel":""}');
  await passAnswerTime();
  return Date.now();
}

/** The first alarm is for a connect that might never have come. */
async function subscribed(variant: Variant, channel: string, user = "ann"): Promise<TestSocket> {
  const socket = await variant.subscribe(channel, user);
  await variant.runAlarmWhenDue(channel);
  return socket;
}

const connectionOf = async (variant: Variant, channel: string, request: object, claims = {}) => {
  const socket = await variant.connect(channel, "ann", claims);
  const reply = await socket.ask({ id: 2, subscribe: { channel, ...request } });
  await variant.runAlarmWhenDue(channel);
  return { socket, reply };
};

async function closeAll(...sockets: readonly TestSocket[]): Promise<void> {
  for (const socket of sockets) socket.close();
  for (const { closed } of sockets) await closed;
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

  it("[CU14] the end of a connection brings what it proves, and an unanswered ping proves nothing", async () => {
    const channel = newChannel("chat");
    const silent = await variant.subscribe(channel, "bob");
    const socket = await subscribed(variant, channel);
    const { epoch } = await publish(channel, 1);
    await variant.betweenSteps(channel);
    await ping(variant, channel, socket);
    await publish(channel, 2);
    const atMs = await pong(socket);
    await variant.betweenSteps(channel);
    await closeAll(socket, silent);
    const known = { offset: 1, epoch, by: "ping", at_ms: atMs };
    await vi.waitFor(async () => expect(await delivered(channel)).toStrictEqual(known), patience);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toStrictEqual(known);
    expect(await delivered(channel, "bob")).toStrictEqual({ offset: 0, epoch });
  });

  it("[CU12] a client that comes back and recovers goes on, and one that doesn't leaves a hole", async () => {
    const channel = newChannel("chat");
    const first = await subscribed(variant, channel);
    await publish(channel, 1);
    const { epoch } = await publish(channel, 2);
    await ping(variant, channel, first);
    await pong(first);
    await closeAll(first);
    await publish(channel, 3);
    await vi.waitFor(
      async () => expect(await delivered(channel)).toMatchObject({ offset: 2, by: "ping" }),
      patience,
    );
    await variant.betweenSteps(channel);
    const recover = { recover: true, offset: 2, epoch };
    const { socket: second } = await connectionOf(variant, channel, recover);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toMatchObject({ offset: 2, by: "ping" });
    await ping(variant, channel, second);
    const recoveredMs = await pong(second);
    const known = { offset: 3, epoch, by: "ping", at_ms: recoveredMs };
    expect(await delivered(channel)).toStrictEqual(known);
    await variant.betweenSteps(channel);
    await closeAll(second);
    await publish(channel, 4);
    const { socket: third } = await connectionOf(variant, channel, {});
    await publish(channel, 5);
    await variant.betweenSteps(channel);
    await ping(variant, channel, third);
    expect(await delivered(channel)).toStrictEqual(known);
    const atMs = await pong(third);
    await variant.betweenSteps(channel);
    const later = { offset: 5, since: 4, epoch, by: "ping", at_ms: atMs };
    expect(await delivered(channel)).toStrictEqual(later);
  });

  it("[CU16] a client that answers nothing proves where it goes on", async () => {
    const channel = newChannel("chat");
    for (const data of [1, 2, 3]) await publish(channel, data);
    const { epoch } = await publish(channel, 4);
    const socket = await variant.connect(channel, "ann", {}, "?keepalive=client");
    const recover = { recover: true, offset: 2, epoch };
    await socket.ask({ id: 2, subscribe: { channel, ...recover } });
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toMatchObject({ offset: 2, since: 2, by: "recovery" });
    await closeAll(socket);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toMatchObject({ offset: 2, since: 2, by: "recovery" });
  });

  it("[CU10] what a filter keeps from the client doesn't count", async () => {
    const channel = newChannel("chat");
    const filter = { key: "kind", cmp: "eq", val: "message" };
    const { socket } = await connectionOf(variant, channel, { tf: filter });
    await publish(channel, 1, { tags: { kind: "typing" } });
    await publish(channel, 2, { tags: { kind: "message" } });
    await publish(channel, 3, { tags: { kind: "typing" } });
    await ping(variant, channel, socket);
    await pong(socket);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toMatchObject({ offset: 3, by: "ping" });
  });

  it("[CU14] a crash loses what wasn't written, and nothing else", async () => {
    const channel = newChannel("chat");
    const socket = await subscribed(variant, channel);
    const { epoch } = await publish(channel, 1);
    await ping(variant, channel, socket);
    const atMs = await pong(socket);
    const known = { offset: 1, epoch, by: "ping", at_ms: atMs };
    expect(await delivered(channel)).toStrictEqual(known);
    await publish(channel, 2);
    await ping(variant, channel, socket);
    await pong(socket);
    await crashObject(variant.place.holder(channel));
    expect(await delivered(channel)).toStrictEqual(known);
  });

  it("[CU13] a connection without cursors notes nothing", async () => {
    const channel = newChannel("quiet");
    await variant.subscribe(channel, "ann");
    await variant.runAlarmWhenDue(channel);
    await variant.runAlarmWhenDue(channel);
    for (const attachment of await attachmentsOf(variant.place.holder(channel)))
      expect(attachment).not.toHaveProperty("noted");
  });
});

describe.each(gatewayVariants)("subscriptions of the server, on $name", (variant) => {
  it("[CU12] are noted, too", async () => {
    const channel = newChannel("chat");
    const socket = await variant.connect(channel, "ann", { subs: { [channel]: {} } });
    await variant.runAlarmWhenDue(channel);
    await publish(channel, 1);
    await variant.betweenSteps(channel);
    await ping(variant, channel, socket);
    await pong(socket);
    await variant.betweenSteps(channel);
    expect(await delivered(channel)).toMatchObject({ offset: 1, by: "ping" });
  });

  it("[CU15] a gateway that doesn't answer leaves what is known otherwise", async () => {
    const channel = newChannel("chat");
    const socket = await variant.connect(channel, "ann", { subs: { [channel]: {} } });
    await variant.runAlarmWhenDue(channel);
    const { epoch } = await publish(channel, 1);
    await ping(variant, channel, socket);
    await pong(socket);
    lowerLimits(cursorLimits, { censusMs: 200 });
    const unblock = blockObject(variant.place.holder(channel));
    expect(await delivered(channel)).toStrictEqual({ offset: 0, epoch });
    await unblock();
    await vi.waitFor(
      async () => expect(await delivered(channel)).toMatchObject({ offset: 1, by: "ping" }),
      patience,
    );
  });
});
