import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeepAliveWebSocket } from "../../public/keepalive-websocket.js";
import { Inbox } from "../support/inbox.ts";
import { witnessPings } from "../support/ping-witness.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { SdkClient } from "../support/sdk-client.ts";
import { TestServer } from "../support/test-server.ts";
import { signToken } from "../support/test-tokens.ts";

/** Longer than the 10 s after which an object that hears nothing falls asleep: it can sleep between two pings. */
const pingIntervalMs = 13_000;
/** From a ping until the object is sure to sleep, and sure not to have been woken by the next one. */
const untilAsleepMs = 11_500;
/** Two intervals and 10 s. */
const silenceMsMax = 2 * pingIntervalMs + 10_000;

const config = {
  // Out of the way of the first idle period: while a socket is new, its object has an alarm for it.
  client: { ping_interval: "13s", stale_close_delay: "1s" },
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
describe.concurrent("three idle periods", { timeout: 90_000 }, () => {
  it(
    "[K1] [K3] [K5] [S2] both kinds of client stay while their objects sleep: " +
      "one wakes for its pings alone, the other for none, and has no alarm",
    async () => {
      const [alarms] = await Promise.all([
        sleepThroughPings("client-driven"),
        wakeForPings("server-driven"),
      ]);
      expect(alarms).toEqual([undefined, undefined, undefined]);
    },
  );

  it("[K3] [K5] with history there is one alarm, for its far end, and it doesn't move", async () => {
    const alarms = await sleepThroughPings("kept:client-driven");
    expect(new Set(alarms).size).toBe(1);
    const daysAhead = (millisecondsOf(alarms[0]) - Date.now()) / 86_400_000;
    expect(daysAhead).toBeGreaterThan(29);
  });

  it("[K2] [S2] a pong that finds the object asleep is an answer like any other", async () => {
    const channel = "late-pongs";
    const socket = await subscribe(channel, "");
    for (let pings = 1; pings <= 2; pings++) {
      await nextPing(socket);
      await pause(untilAsleepMs);
      expect(await server.asleep(channel)).toBe(true);
      socket.send({});
    }
    // Had a pong been refused, the socket would be closed 3501 now; had one been lost, 3012.
    await nextPing(socket);
    await server.backend.publish(channel, "heard");
    await socket.lines.first((line) => line.includes("heard"));
    socket.close();
  });
});

describe.concurrent("a client that is gone without a goodbye", { timeout: 90_000 }, () => {
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
 * Leaves a server-driven subscriber alone between three pings, and checks that the object was gone from memory before
 * each of them and came back for it, that a publication found the client there, and that it stayed.
 */
async function wakeForPings(channel: string): Promise<void> {
  const { client, publications, pings } = await witnessed(channel, WebSocket);
  for (let period = 1; period <= 3; period++) {
    await pause(untilAsleepMs);
    expect(await server.asleep(channel)).toBe(true);
    expect(pings.all).toHaveLength(period - 1);
    const nextPingMs = millisecondsOf(server.alarm(channel)) - Date.now();
    expect(nextPingMs).toBeGreaterThan(0);
    expect(nextPingMs).toBeLessThanOrEqual(pingIntervalMs - untilAsleepMs);
    // Nothing but the alarm wakes it: that is what sends the ping, and whoever answered the one before is sent it.
    await pings.count(period);
    await server.backend.publish(channel, period);
    await publications.first(({ data }) => data === period);
  }
  await leave(client, channel);
}

/**
 * Leaves a client-driven subscriber alone for three of its pings, and checks that the object was gone from memory before
 * and after each of them, that a publication found the client there, and that it stayed.
 *
 * @returns the alarm at the end of each period
 */
async function sleepThroughPings(channel: string): Promise<readonly (bigint | undefined)[]> {
  const { client, publications, pings } = await witnessed(channel, KeepAliveWebSocket);
  const alarms: (bigint | undefined)[] = [];
  for (let period = 1; period <= 3; period++) {
    await pause(untilAsleepMs);
    expect(await server.asleep(channel)).toBe(true);
    expect(pings.all).toHaveLength(period - 1);
    await pings.count(period);
    expect(await server.asleep(channel)).toBe(true);
    alarms.push(server.alarm(channel));
    await server.backend.publish(channel, period);
    await publications.first(({ data }) => data === period);
  }
  await leave(client, channel);
  return alarms;
}

/** A subscriber whose pings are seen, with one publication behind it. */
async function witnessed(channel: string, websocket: typeof WebSocket | undefined) {
  if (websocket === undefined) throw new Error("this platform has no WebSocket");
  const pings = new Inbox<number>();
  const client = new SdkClient(server.socketAddress(channel), {
    token,
    websocket: witnessPings(pings, websocket),
  });
  const { publications } = await client.subscribed(channel);
  await server.backend.publish(channel, 0);
  await publications.count(1);
  return { client, publications, pings };
}

/** Checks that the client is there and always was, and takes it away. */
async function leave(client: SdkClient, channel: string): Promise<void> {
  expect(await presentIn(channel)).toEqual([client.connected.all[0]?.client]);
  expect(client.reconnects).toBe(0);
  client.close();
}

async function subscribe(channel: string, query: string): Promise<RawSocket> {
  const socket = await RawSocket.connect(`${server.socketAddress(channel)}${query}`, token);
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}

async function nextPing(socket: RawSocket): Promise<void> {
  while ((await socket.lines.next()) !== "{}");
}

async function presentIn(channel: string): Promise<readonly string[]> {
  return (await server.backend.presence(channel)).map(({ client }) => client);
}

function millisecondsOf(nanoseconds: bigint | undefined): number {
  return Number((nanoseconds ?? 0n) / 1_000_000n);
}
