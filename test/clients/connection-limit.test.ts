import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Endpoint, endpoints } from "../support/endpoint.ts";
import { LingeringClient } from "../support/lingering-client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { variants } from "../support/variant.ts";
import { TestServer } from "../support/test-server.ts";
import { signToken } from "../support/test-tokens.ts";

const connectionLimit = 5;
/** Closed ones included, whose peers never answer. */
const socketsMax = 2 * connectionLimit;

const channel = "news";

const config = {
  client: { connection_limit: connectionLimit },
  channel: { without_namespace: { allow_subscribe_for_client: true, presence: true } },
};

let server: TestServer;

// The edge's memory of a pool in one test must not matter in the next.
beforeEach(async () => {
  server = await TestServer.start({ config });
});
afterEach(() => server.close());

describe.each(variants)("[S2] in the situation $name", ({ endpoint, betweenSteps: pause }) => {
  it("[B5] a client that closes properly frees its place, again and again", async () => {
    const sockets: RawSocket[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      sockets.push(await subscriber(endpoint));
    }
    for (let count = 1; count <= socketsMax + 1; count++) {
      await pause(server, channel);
      const leaving = sockets.shift();
      leaving?.close();
      expect(await leaving?.closed).toMatchObject({ code: 1000 });
      await pause(server, channel);
      sockets.push(await subscriber(endpoint));
    }
    expect(await server.backend.presence(channel)).toHaveLength(connectionLimit);
    expect(await nextUnasked(endpoint)).toBe(true);
    await closeAll(sockets);
  });

  it("[B5] clients that never answer the close don't count, up to the limit", async () => {
    const clients: LingeringClient[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      clients.push(await closedClient(endpoint.address(server, channel)));
      await pause(server, channel);
    }
    const sockets: RawSocket[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      sockets.push(await subscriber(endpoint));
      await pause(server, channel);
    }
    expect(await server.backend.presence(channel)).toHaveLength(connectionLimit);
    expect(await nextUnasked(endpoint)).toBe(true);
    for (const client of clients) client.cut();
    await closeAll(sockets);
  });

  it("[B5] [G3] peers that never answer the close take no more than twice the limit", async () => {
    const clients = await fillWithClosed(endpoint, () => pause(server, channel));
    expect(await nextUnasked(endpoint)).toBe(true);
    const socket = await RawSocket.open(endpoint.address(server, channel));
    expect(await nextUnasked(endpoint)).toBe(false);
    for (const client of clients) client.cut();
    socket.close();
  });
});

describe.each(endpoints)("at the endpoint of a $name", (endpoint) => {
  it("[B5] the place of such a client is free once its connection is gone", async () => {
    const clients = await fillWithClosed(endpoint, () => Promise.resolve());
    for (const client of clients) client.cut();
    // The time at which the server notices isn't observable, and an object that refused isn't asked again for a while.
    let taken = false;
    while (!taken) {
      await closeAll([await RawSocket.open(endpoint.address(server, channel))]);
      taken = await nextUnasked(endpoint);
    }
    expect(taken).toBe(true);
  });
});

/**
 * Whether the object behind the first one of the pool, which is asked only when the first one refuses, has not been asked
 * for anything lately. It isn't running afterwards.
 */
function nextUnasked({ name }: Endpoint): Promise<boolean> {
  return server.gatewayAsleep(name === "channel" ? `channel/${channel}/0` : "na/1");
}

/** As many of the peers as one object takes. */
async function fillWithClosed(
  endpoint: Endpoint,
  pause: () => Promise<void>,
): Promise<readonly LingeringClient[]> {
  const clients: LingeringClient[] = [];
  for (let count = 1; count <= socketsMax; count++) {
    clients.push(await closedClient(endpoint.address(server, channel)));
    await pause();
  }
  return clients;
}

/** A peer whose first command isn't connect, so that the server closes it; it leaves that unanswered. */
async function closedClient(address: string): Promise<LingeringClient> {
  const client = await LingeringClient.open(address);
  client.send(`{"id":1,"unsubscribe":{}}`);
  expect(await client.closeCode()).toBe(3501);
  return client;
}

async function subscriber(endpoint: Endpoint): Promise<RawSocket> {
  const address = endpoint.address(server, channel);
  const socket = await RawSocket.connect(address, signToken({ sub: "alice" }));
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}

async function closeAll(sockets: readonly RawSocket[]): Promise<void> {
  for (const socket of sockets) socket.close();
  await Promise.all(sockets.map(({ closed }) => closed));
}
