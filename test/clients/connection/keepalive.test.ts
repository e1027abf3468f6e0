import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeepAliveWebSocket } from "../../../public/keepalive-websocket.js";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { Continent, type Letters } from "../../support/sockets/continent.ts";
import { channelEndpoint } from "../../support/sockets/endpoint.ts";
import { Inbox } from "../../support/inbox.ts";
import { recordPings } from "../../support/sockets/record-pings.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

/** Far longer than the 10 s after which an idle object hibernates: a busy machine may be late by the rest. */
const pingIntervalMs = 25_000;
/** From a ping to a time at which the object has hibernated on a calm machine. */
const untilAsleepMs = 13_500;
/** Two intervals and 10 s. */
const silenceMsMax = 2 * pingIntervalMs + 10_000;

const config = {
  // Out of the way of the first idle period: while a socket is new, its object has an alarm for it.
  client: { ping_interval: "25s", stale_close_delay: "1s" },
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

const token = signToken({ sub: "alice" });

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

/** Where the clients of one test connect, and the object that holds their sockets. */
interface Place {
  readonly channel: string;
  readonly address: string;
  /** Whether the object isn't running. If it was, it isn't any more. */
  asleep(): Promise<boolean>;
  alarm(): bigint | undefined;
}

/** The place of clients with a channel's own sockets. */
function placeOf(channel: string): Place {
  return {
    channel,
    address: channelEndpoint.address(server, channel),
    asleep: () => server.asleep(channel),
    alarm: () => server.alarm(channel),
  };
}

/** The place of clients on a gateway, which is theirs alone: the gateway of a continent. */
function placeOn({ address, firstGateway }: Continent, channel: string): Place {
  return {
    channel,
    address: server.gatewayAddress(address),
    asleep: () => server.gatewayAsleep(firstGateway),
    alarm: () => server.gatewayAlarm(firstGateway),
  };
}

/**
 * Does the same with a channel's own sockets and on the gateway of a continent, in parallel, each with its own channel.
 */
async function atBoth(
  channel: string,
  letters: Letters,
  check: (place: Place) => Promise<void>,
): Promise<void> {
  const continent = await Continent.of(letters, server.address);
  await Promise.all([check(placeOf(channel)), check(placeOn(continent, `${channel}-gateway`))]);
  await continent.close();
}

/** The claims are about real time; the waits for it run side by side, on channels' objects and on gateways. */
describe.concurrent("two idle periods", { timeout: 120_000 }, () => {
  it(
    "[K1] [K3] [K5] [S2] both kinds of client stay while their objects sleep: " +
      "one wakes for its pings alone, the other for none, and has no alarm",
    async () => {
      const alarms: (bigint | undefined)[] = [];
      await Promise.all([
        atBoth("client-driven", "EU", async (place) => {
          alarms.push(...(await sleepThroughPings(place)));
        }),
        atBoth("server-driven", "SA", wakeForPings),
      ]);
      expect(alarms).toEqual(Array.from({ length: 4 }));
    },
  );

  it("[K3] [K5] with history there is one alarm, for its far end, and it doesn't move", async () => {
    const alarms = await sleepThroughPings(placeOf("kept:client-driven"));
    expect(new Set(alarms).size).toBe(1);
    const daysAhead = (millisecondsOf(alarms[0]) - Date.now()) / 86_400_000;
    expect(daysAhead).toBeGreaterThan(29);
  });

  it("[K2] [K3] [S2] an answer that finds the object asleep counts, and doesn't wake it", async () => {
    const received: string[] = [];
    await atBoth("late-pongs", "AS", async (place) => {
      const socket = await subscribe(place, "");
      await nextPing(socket);
      await fallAsleep(place);
      socket.send({});
      await socket.lines.first((line) => line === keepaliveTexts.answer);
      expect(await place.asleep()).toBe(true);
      // Had an answer been refused, the socket would be closed 3501 now; had one been lost, 3012.
      await nextPing(socket);
      await server.backend.publish(place.channel, "heard");
      received.push(await socket.lines.first((line) => line.includes("heard")));
      socket.close();
    });
    expect(received).toHaveLength(2);
  });
});

describe.concurrent("a client that is gone without a goodbye", { timeout: 120_000 }, () => {
  it("[K2] is closed 3012 where the server pings, and isn't present any more", () =>
    atBoth("server-driven-dead", "AF", async (place) => {
      const dead = await subscribe(place, "");
      const client = new SdkClient(place.address, { token });
      await client.subscribed(place.channel);
      expect(await dead.closed).toEqual({ code: 3012, reason: "no pong" });
      expect(dead.lines.all.filter((line) => line === "{}")).toHaveLength(1);
      expect(await presentIn(place)).toEqual([client.connected.all[0]?.client]);
      expect(client.reconnects).toBe(0);
      client.close();
    }));

  it("[K4] isn't present after its silence where it has to ping, and is closed 3012", () =>
    atBoth("client-driven-dead", "OC", async (place) => {
      const dead = await subscribe(place, "?keepalive=client");
      const client = new SdkClient(place.address, { token, websocket: KeepAliveWebSocket });
      await client.subscribed(place.channel);
      dead.sendText(keepaliveTexts.request);
      await dead.lines.first((line) => line === keepaliveTexts.answer);
      await pause(silenceMsMax - 2_000);
      expect(await presentIn(place)).toHaveLength(2);
      await pause(3_000);
      expect(await presentIn(place)).toEqual([client.connected.all[0]?.client]);
      expect(await dead.closed).toEqual({ code: 3012, reason: "no pong" });
      expect(client.reconnects).toBe(0);
      client.close();
    }));
});

/**
 * Leaves a server-driven subscriber alone between two pings, and checks that the object was gone from memory before
 * each of them and came back for it, that a publication found the client there, and that it stayed.
 */
async function wakeForPings(place: Place): Promise<void> {
  const { client, publications, pings } = await recordedPings(place, WebSocket);
  for (let period = 1; period <= 2; period++) {
    await fallAsleep(place);
    expect(pings.all).toHaveLength(period - 1);
    const alarmAtMs = millisecondsOf(place.alarm());
    expect(alarmAtMs).toBeGreaterThan(Date.now());
    // Only the alarm wakes the object: the alarm sends the ping, and only to clients that answered the one before.
    await pings.count(period);
    expect(Date.now()).toBeGreaterThanOrEqual(alarmAtMs);
    await server.backend.publish(place.channel, period);
    await publications.first(({ data }) => data === period);
  }
  await leave(client, place);
}

/**
 * Leaves a client-driven subscriber alone for two of its pings, and checks that the object was gone from memory before
 * and after each of them, that a publication found the client there, and that it stayed.
 *
 * @returns the alarm at the end of each period
 */
async function sleepThroughPings(place: Place): Promise<readonly (bigint | undefined)[]> {
  const { client, publications, pings } = await recordedPings(place, KeepAliveWebSocket);
  const alarms: (bigint | undefined)[] = [];
  for (let period = 1; period <= 2; period++) {
    await fallAsleep(place);
    expect(pings.all).toHaveLength(period - 1);
    await pings.count(period);
    expect(await place.asleep()).toBe(true);
    alarms.push(place.alarm());
    await server.backend.publish(place.channel, period);
    await publications.first(({ data }) => data === period);
  }
  await leave(client, place);
  return alarms;
}

/** A subscriber whose pings are seen, with one publication behind it. */
async function recordedPings(place: Place, websocket: typeof WebSocket | undefined) {
  if (websocket === undefined) throw new Error("this platform has no WebSocket");
  const pings = new Inbox<number>();
  const client = new SdkClient(place.address, { token, websocket: recordPings(pings, websocket) });
  const { publications } = await client.subscribed(place.channel);
  await server.backend.publish(place.channel, 0);
  await publications.count(1);
  return { client, publications, pings };
}

/** Checks that the client is there and always was, and takes it away. */
async function leave(client: SdkClient, place: Place): Promise<void> {
  expect(await presentIn(place)).toEqual([client.connected.all[0]?.client]);
  expect(client.reconnects).toBe(0);
  client.close();
}

async function subscribe({ address, channel }: Place, query: string): Promise<RawSocket> {
  const socket = await RawSocket.connect(`${address}${query}`, token);
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}

/** Waits until the object is gone from memory, which takes longer than usual on a busy machine, but not until the ping. */
async function fallAsleep(place: Place): Promise<void> {
  await pause(untilAsleepMs);
  const endsAtMs = Date.now() + pingIntervalMs - untilAsleepMs;
  while (!(await place.asleep()) && Date.now() < endsAtMs) await pause(100);
  expect(await place.asleep()).toBe(true);
}

async function nextPing(socket: RawSocket): Promise<void> {
  while ((await socket.lines.next()) !== "{}");
}

async function presentIn({ channel }: Place): Promise<readonly string[]> {
  return (await server.backend.presence(channel)).map(({ client }) => client);
}

function millisecondsOf(nanoseconds: bigint | undefined): number {
  return Number((nanoseconds ?? 0n) / 1_000_000n);
}
