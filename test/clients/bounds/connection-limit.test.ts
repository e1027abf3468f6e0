import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Continent, type Letters } from "../../support/sockets/continent.ts";
import { LingeringClient } from "../../support/sockets/lingering-client.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { evictBoth } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const connectionLimit = 5;
/** Closed ones included, whose peers never answer. */
const socketsMax = 2 * connectionLimit;

const config = {
  client: { connection_limit: connectionLimit },
  channel: { without_namespace: { allow_subscribe_for_client: true, presence: true } },
};

/**
 * Where the clients of one test connect: to a pool of objects that no other test uses, because the edge remembers what
 * it learned of a pool.
 */
interface Place {
  readonly channel: string;
  readonly address: string;
  /** The object behind the first one of the pool, which is asked only when the first one refuses. */
  readonly second: string;
  /** Between two steps (rule S2). */
  readonly pause: () => Promise<void>;
}

let server: TestServer;
const continents: Continent[] = [];

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(async () => {
  for (const continent of continents) await continent.close();
  await server.close();
});

/** Of a channel, which has a pool of its own. */
function placeOf(channel: string, evicted: boolean): Place {
  return {
    channel,
    address: server.socketAddress(channel),
    second: `channel/${channel}/0`,
    pause: () => (evicted ? server.evict(channel) : Promise.resolve()),
  };
}

/** On the gateways of a continent that no other test uses. */
async function placeOn(letters: Letters, channel: string, evicted: boolean): Promise<Place> {
  const continent = await Continent.of(letters, server.address);
  continents.push(continent);
  const { address, firstGateway } = continent;
  return {
    channel,
    address: server.gatewayAddress(address),
    second: firstGateway.replace("/0", "/1"),
    pause: () => (evicted ? evictBoth(server, firstGateway, channel) : Promise.resolve()),
  };
}

/** The situations, each with the continents of its three tests if it is about gateways. */
const situations = [
  { name: "channel-awake", evicted: false, gateways: undefined },
  { name: "channel-evicted", evicted: true, gateways: undefined },
  { name: "gateway-awake", evicted: false, gateways: ["EU", "NA", "SA"] },
  { name: "gateway-evicted", evicted: true, gateways: ["AF", "AS", "OC"] },
] as const;

describe.each(situations)("[S2] in the situation $name", ({ name, evicted, gateways }) => {
  /** @param nth which test of the situation asks */
  const place = (nth: 0 | 1 | 2): Promise<Place> => {
    const channel = `${name}-${nth}`;
    return gateways === undefined
      ? Promise.resolve(placeOf(channel, evicted))
      : placeOn(gateways[nth], channel, evicted);
  };

  it("[B5] a client that closes properly frees its place, again and again", async () => {
    const here = await place(0);
    const sockets: RawSocket[] = [];
    for (let count = 1; count <= connectionLimit; count++) sockets.push(await subscriber(here));
    for (let count = 1; count <= socketsMax + 1; count++) {
      await here.pause();
      const leaving = sockets.shift();
      leaving?.close();
      expect(await leaving?.closed).toMatchObject({ code: 1000 });
      await here.pause();
      sockets.push(await subscriber(here));
    }
    expect(await server.backend.presence(here.channel)).toHaveLength(connectionLimit);
    expect(await secondUnasked(here)).toBe(true);
    await closeAll(sockets);
  });

  it("[B5] clients that never answer the close don't count, up to the limit", async () => {
    const here = await place(1);
    const clients: LingeringClient[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      clients.push(await closedClient(here));
      await here.pause();
    }
    const sockets: RawSocket[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      sockets.push(await subscriber(here));
      await here.pause();
    }
    expect(await server.backend.presence(here.channel)).toHaveLength(connectionLimit);
    expect(await secondUnasked(here)).toBe(true);
    for (const client of clients) client.cut();
    await closeAll(sockets);
  });

  it("[B5] [G3] peers that never answer the close take no more than twice the limit", async () => {
    const here = await place(2);
    const clients = await fillWithClosed(here, here.pause);
    expect(await secondUnasked(here)).toBe(true);
    const socket = await RawSocket.open(here.address);
    expect(await secondUnasked(here)).toBe(false);
    for (const client of clients) client.cut();
    socket.close();
  });
});

describe.each(["channel", "gateway"])("at the endpoint of a %s", (kind) => {
  it("[B5] the place of such a client is free once its connection is gone", async () => {
    const here =
      kind === "channel" ? placeOf("freed", false) : await placeOn("AN", "freed-on-gateway", false);
    const clients = await fillWithClosed(here, () => Promise.resolve());
    for (const client of clients) client.cut();
    // The time at which the server notices isn't observable, and an object that refused isn't asked again for a while.
    let taken = false;
    while (!taken) {
      await closeAll([await RawSocket.open(here.address)]);
      taken = await secondUnasked(here);
    }
    expect(taken).toBe(true);
  });
});

/** Whether the second object of the pool has not been asked for anything lately. It isn't running afterwards. */
function secondUnasked({ second }: Place): Promise<boolean> {
  return server.gatewayAsleep(second);
}

/** As many of the peers as one object takes. */
async function fillWithClosed(
  here: Place,
  pause: () => Promise<void>,
): Promise<readonly LingeringClient[]> {
  const clients: LingeringClient[] = [];
  for (let count = 1; count <= socketsMax; count++) {
    clients.push(await closedClient(here));
    await pause();
  }
  return clients;
}

/** A peer whose first command isn't connect, so that the server closes it; it leaves that unanswered. */
async function closedClient({ address }: Place): Promise<LingeringClient> {
  const client = await LingeringClient.open(address);
  client.send(`{"id":1,"unsubscribe":{}}`);
  expect(await client.closeCode()).toBe(3501);
  return client;
}

async function subscriber({ address, channel }: Place): Promise<RawSocket> {
  const socket = await RawSocket.connect(address, signToken({ sub: "alice" }));
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}

async function closeAll(sockets: readonly RawSocket[]): Promise<void> {
  for (const socket of sockets) socket.close();
  await Promise.all(sockets.map(({ closed }) => closed));
}
