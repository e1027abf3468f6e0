import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeepAliveWebSocket } from "../../public/keepalive-websocket.js";
import { RawSocket } from "../support/raw-socket.ts";
import { SdkClient } from "../support/sdk-client.ts";
import { TestServer } from "../support/test-server.ts";
import { signToken } from "../support/test-tokens.ts";

const pingIntervalMs = 4_000;
/** An object falls asleep 10 s after its last event. Multiples of this don't end at a ping, so alarms can be looked at. */
const idlePeriodMs = 13_500;
/** Two intervals and 10 s. */
const silenceMsMax = 2 * pingIntervalMs + 10_000;

const config = {
  // Out of the way of the first idle period: while a socket is new, its object has an alarm for it.
  client: { ping_interval: "4s", stale_close_delay: "1s" },
  channel: {
    without_namespace: { allow_subscribe_for_client: true, presence: true },
    namespaces: [
      {
        name: "kept",
        allow_subscribe_for_client: true,
        presence: true,
        history_size: 10,
        history_ttl: "5m",
      },
    ],
  },
};

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

const token = signToken({ sub: "alice" });

/** The claims are about real time; the waits for it run side by side. */
describe.concurrent("three idle periods", { timeout: 60_000 }, () => {
  it("[K3] [K5] a client that pings by itself stays, and its object sleeps with no alarm at all", async () => {
    const alarms = await sleepThrough("client-driven");
    expect(alarms).toEqual([undefined, undefined, undefined]);
  });

  it("[K3] [K5] with history there is one alarm, for its far end, and it doesn't move", async () => {
    const alarms = await sleepThrough("kept:client-driven");
    expect(new Set(alarms).size).toBe(1);
    const daysAhead = (millisecondsOf(alarms[0]) - Date.now()) / 86_400_000;
    expect(daysAhead).toBeGreaterThan(29);
  });

  it("[K1] a client that the server pings stays, and its object wakes for every ping", async () => {
    const channel = "server-driven";
    const client = new SdkClient(server.socketAddress(channel), { token });
    const { publications } = await client.subscribed(channel);
    for (let period = 1; period <= 3; period++) {
      await pause(idlePeriodMs);
      const nextPingMs = millisecondsOf(server.alarm(channel)) - Date.now();
      expect(nextPingMs).toBeGreaterThan(-2_000);
      expect(nextPingMs).toBeLessThanOrEqual(pingIntervalMs);
      await server.backend.publish(channel, period);
      await publications.first(({ data }) => data === period);
    }
    expect(await server.backend.presence(channel)).toHaveLength(1);
    expect(client.reconnects).toBe(0);
    client.close();
  });
});

describe.concurrent("a client that is gone without a goodbye", () => {
  it("[K2] is closed 3012 where the server pings, and isn't present any more", async () => {
    const channel = "server-driven-dead";
    const dead = await subscribe(channel, "");
    const client = new SdkClient(server.socketAddress(channel), { token });
    await client.subscribed(channel);
    expect(await dead.closed).toEqual({ code: 3012, reason: "no pong" });
    expect(dead.lines.all.filter((line) => line === "{}")).toHaveLength(1);
    expect(await presentIn(channel)).toEqual([client.connected.all[0]?.client]);
    expect(client.reconnects).toBe(0);
    client.close();
  });

  it("[K4] isn't present after its silence where it has to ping, and is closed 3012", async () => {
    const channel = "client-driven-dead";
    const dead = await subscribe(channel, "?keepalive=client");
    const client = new SdkClient(server.socketAddress(channel), {
      token,
      websocket: KeepAliveWebSocket,
    });
    await client.subscribed(channel);
    dead.sendText("ping");
    await dead.lines.first((line) => line === "pong");
    await pause(silenceMsMax - 2_000);
    expect(await presentIn(channel)).toHaveLength(2);
    await pause(3_000);
    expect(await presentIn(channel)).toEqual([client.connected.all[0]?.client]);
    expect(await dead.closed).toEqual({ code: 3012, reason: "no pong" });
    expect(client.reconnects).toBe(0);
    client.close();
  });
});

/**
 * Leaves a client-driven subscriber alone for three idle periods, with a publication after each, and checks that the
 * object slept and the client stayed.
 *
 * @returns the alarm at the end of each period
 */
async function sleepThrough(channel: string): Promise<readonly (bigint | undefined)[]> {
  const client = new SdkClient(server.socketAddress(channel), {
    token,
    websocket: KeepAliveWebSocket,
  });
  const { publications } = await client.subscribed(channel);
  await server.backend.publish(channel, 0);
  const alarms: (bigint | undefined)[] = [];
  for (let period = 1; period <= 3; period++) {
    await pause(idlePeriodMs);
    expect(await server.asleep(channel)).toBe(true);
    alarms.push(server.alarm(channel));
    await server.backend.publish(channel, period);
    await publications.first(({ data }) => data === period);
  }
  expect(await server.backend.presence(channel)).toHaveLength(1);
  expect(client.reconnects).toBe(0);
  client.close();
  return alarms;
}

async function subscribe(channel: string, query: string): Promise<RawSocket> {
  const socket = await RawSocket.connect(`${server.socketAddress(channel)}${query}`, token);
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}

async function presentIn(channel: string): Promise<readonly string[]> {
  return (await server.backend.presence(channel)).map(({ client }) => client);
}

function millisecondsOf(nanoseconds: bigint | undefined): number {
  return Number((nanoseconds ?? 0n) / 1_000_000n);
}
