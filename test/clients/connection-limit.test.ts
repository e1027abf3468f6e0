import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LingeringPeer } from "../support/lingering-peer.ts";
import { handshake, RawSocket } from "../support/raw-socket.ts";
import { TestServer } from "../support/test-server.ts";
import { signToken } from "../support/test-tokens.ts";
import { wakefulness } from "../support/wakefulness.ts";

const connectionLimit = 5;
/** Closed ones included, whose peers never answer. */
const socketsMax = 2 * connectionLimit;

const config = {
  client: { connection_limit: connectionLimit },
  channel: { without_namespace: { allow_subscribe_for_client: true, presence: true } },
};

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

describe.each(wakefulness)("[S2] with its object $name between all steps", ({ name, pause }) => {
  it("[B5] peers that never answer the close take no more than twice the limit", async () => {
    const channel = `${name}-lingering`;
    const address = server.socketAddress(channel);
    const peers: LingeringPeer[] = [];
    for (let count = 1; count <= socketsMax; count++) {
      peers.push(await closedPeer(address));
      await pause(server, channel);
    }
    for (let count = 1; count <= 3; count++) {
      expect(await handshake(address)).toEqual(refusal);
      await pause(server, channel);
    }
    // Its place is free as soon as its connection is gone, with a goodbye or without.
    peers.pop()?.cut();
    const socket = await admitted(address);
    await pause(server, channel);
    expect(await handshake(address)).toEqual(refusal);
    socket.close();
    for (const peer of peers) peer.cut();
  });

  it("[B5] peers that never answer the close take nobody's place, up to the limit", async () => {
    const channel = `${name}-beside`;
    const address = server.socketAddress(channel);
    const peers: LingeringPeer[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      peers.push(await closedPeer(address));
      await pause(server, channel);
    }
    const sockets: RawSocket[] = [];
    for (let count = 1; count <= connectionLimit; count++) {
      sockets.push(await subscriber(channel));
      await pause(server, channel);
    }
    expect(await server.backend.presence(channel)).toHaveLength(connectionLimit);
    expect(await handshake(address)).toEqual(refusal);
    for (const socket of sockets) socket.close();
    for (const peer of peers) peer.cut();
  });

  it("[B5] a client that closes properly frees its place, again and again", async () => {
    const channel = `${name}-leaving`;
    const address = server.socketAddress(channel);
    const sockets: RawSocket[] = [];
    for (let count = 1; count <= connectionLimit; count++) sockets.push(await subscriber(channel));
    for (let count = 1; count <= socketsMax + 1; count++) {
      await pause(server, channel);
      expect(await handshake(address)).toEqual(refusal);
      await pause(server, channel);
      const leaving = sockets.shift();
      leaving?.close();
      expect(await leaving?.closed).toMatchObject({ code: 1000 });
      await pause(server, channel);
      sockets.push(await subscriber(channel));
    }
    expect(await server.backend.presence(channel)).toHaveLength(connectionLimit);
    for (const socket of sockets) socket.close();
  });
});

const refusal = { status: 503, text: "This channel has no room for another connection" };

/** A peer whose first command isn't connect, so that the server closes it; it leaves that unanswered. */
async function closedPeer(address: string): Promise<LingeringPeer> {
  const peer = await LingeringPeer.open(address);
  peer.send("{}");
  expect(await peer.closeCode()).toBe(3501);
  return peer;
}

/** A socket, as soon as there is room for one. */
async function admitted(address: string): Promise<RawSocket> {
  for (;;) {
    const answer = await RawSocket.open(address).catch((error: Error) => error);
    if (answer instanceof RawSocket) return answer;
    expect(answer.message).toContain("503");
  }
}

async function subscriber(channel: string): Promise<RawSocket> {
  const socket = await RawSocket.connect(
    server.socketAddress(channel),
    signToken({ sub: "alice" }),
  );
  await socket.ask({ id: 2, subscribe: { channel } });
  return socket;
}
