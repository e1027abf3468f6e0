import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { freePort, listen } from "../../../support/servers/listen.ts";
import { Random } from "../../../support/random.ts";
import { type TestSocket, ConnectedSockets } from "./connected-sockets.ts";
import { FaultyNetwork } from "./faulty-network.ts";

let sockets: ConnectedSockets;
afterEach(() => sockets.close());

/** The only connection's two ends. */
function only(): { client: TestSocket; server: TestSocket } {
  const [client, server] = [sockets.clients[0], sockets.servers[0]];
  if (client === undefined || server === undefined) throw new Error("nobody is connected");
  return { client, server };
}

describe("a faulty network", () => {
  it.each(["fin", "reset"] as const)("cuts with %s at both ends", async (how) => {
    sockets = await ConnectedSockets.start(1, 1);
    const { client, server } = only();
    expect(sockets.network.cut(0, how)).toBe(1);
    expect(await Promise.all([client.ended, server.ended])).toEqual([how, how]);
    expect(sockets.network.connections).toBe(0);
  });

  it("hits the given share, the same connections for the same seed, and no others", async () => {
    const hits: number[][] = [];
    for (const seed of [7, 7, 8]) {
      sockets = await ConnectedSockets.start(seed, 12);
      expect(sockets.network.cut(0.25, "reset")).toBe(3);
      expect(sockets.network.connections).toBe(9);
      const hit: number[] = [];
      const others: Promise<unknown>[] = [];
      for (const [index, client] of sockets.clients.entries()) {
        client.socket.write("?");
        const server = sockets.servers[index];
        if (server === undefined) throw new Error("no server's side");
        others.push(Promise.race([client.ended.then(() => hit.push(index)), server.bytes(2)]));
      }
      await Promise.all(others);
      hits.push(hit.toSorted((a, b) => a - b));
      if (hits.length < 3) await sockets.close();
    }
    expect(hits[0]).toHaveLength(3);
    expect(hits[1]).toEqual(hits[0]);
    expect(hits[2]).not.toEqual(hits[0]);
  });

  it("keeps the server's end of a vanished connection silent after the client has closed, until bury", async () => {
    sockets = await ConnectedSockets.start(1, 2);
    const { client, server } = only();
    sockets.network.vanish(1);
    client.socket.write("lost");
    client.socket.end();
    expect(await client.ended).toBe("fin");
    expect(server.received).toBe("c");
    server.socket.write("x".repeat(1 << 20));
    // The network read all of it, so the server saw no back-pressure.
    if (server.socket.writableLength > 0) await once(server.socket, "drain");
    expect(server.socket.readableEnded || server.socket.destroyed).toBe(false);
    expect(sockets.network.bury()).toBe(2);
    expect(await server.ended).toBe("reset");
    expect(server.received).toBe("c");
    expect(client.received).toBe("s");
  });

  it.each(["silenceDown", "silenceUp"] as const)(
    "applies %s to one direction only",
    async (fault) => {
      sockets = await ConnectedSockets.start(1, 1);
      const { client, server } = only();
      expect(sockets.network[fault](1)).toBe(1);
      client.socket.write("up");
      server.socket.write("down");
      await (fault === "silenceDown" ? server.bytes(3) : client.bytes(5));
      expect(sockets.network.bury()).toBe(1);
      expect(await Promise.all([client.ended, server.ended])).toEqual(["reset", "reset"]);
      expect(server.received).toBe(fault === "silenceDown" ? "cup" : "c");
      expect(client.received).toBe(fault === "silenceUp" ? "sdown" : "s");
    },
  );

  it("stalls the server with back-pressure and then loses nothing", async () => {
    sockets = await ConnectedSockets.start(1, 1);
    const { client, server } = only();
    const text = numbered(4_000_000);
    const begun = performance.now();
    sockets.network.stall(1, 200);
    server.socket.write(text);
    expect((await client.bytes(text.length + 1)) === `s${text}`).toBe(true);
    expect(performance.now() - begun).toBeGreaterThan(195);
  });

  it("delivers bytes sent during and after a delay late, complete and in order", async () => {
    sockets = await ConnectedSockets.start(1, 1);
    const { client, server } = only();
    const source = numbered(4_000_000);
    let sent = 0;
    const send = async (): Promise<void> => {
      const chunk = source.slice(sent, sent + 100);
      sent += chunk.length;
      client.socket.write(chunk);
      server.socket.write(chunk);
      await new Promise(setImmediate);
    };
    const begun = performance.now();
    sockets.network.delay({ ms: 60, jitterMs: 60, forMs: 60_000 });
    // The first byte of each came before the delay.
    const ends = [client, server].map(async (end) => {
      await end.bytes(2);
      return performance.now() - begun;
    });
    const sending = { ended: false };
    const both = Promise.all(ends).finally(() => (sending.ended = true));
    while (!sending.ended) await send();
    for (const afterMs of await both) expect(afterMs).toBeGreaterThanOrEqual(60);
    // The delay ends while the bytes that were sent last are in transit.
    sockets.network.delay({ ms: 0, jitterMs: 0, forMs: 0 });
    for (let chunks = 0; chunks < 100; chunks++) await send();
    const text = source.slice(0, sent);
    client.socket.end();
    expect((await client.bytes(text.length + 1)) === `s${text}`).toBe(true);
    expect(await server.ended).toBe("fin");
    expect(server.received === `c${text}`).toBe(true);
  });

  it("drops all connections and refuses new ones", async () => {
    sockets = await ConnectedSockets.start(1, 3);
    const { network } = sockets;
    expect(network.drop(60_000)).toBe(3);
    const ends = [...sockets.clients, ...sockets.servers].map(({ ended }) => ended);
    expect(new Set(await Promise.all(ends))).toEqual(new Set(["reset"]));
    for (let count = 0; count < 3; count++) expect(await outcomeOfConnect(network)).toBe("refused");
    expect(network.refused).toBe(3);
    expect(network.connections).toBe(0);
  });

  it("carries connections again after a drop, and not before its end", async () => {
    sockets = await ConnectedSockets.start(1, 0);
    const { network } = sockets;
    const begun = performance.now();
    network.drop(50);
    while ((await outcomeOfConnect(network)) === "refused");
    expect(performance.now() - begun).toBeGreaterThanOrEqual(50);
  });

  it("loses an answer after the server got the request, and no answer to an older request", async () => {
    sockets = await ConnectedSockets.start(1, 1);
    const { client, server } = only();
    client.socket.write("old");
    await server.bytes(4);
    sockets.network.loseAnswer();
    server.socket.write("old answer");
    expect(await client.bytes(11)).toBe("sold answer");
    client.socket.write("new");
    expect(await server.bytes(7)).toBe("coldnew");
    expect(sockets.network.repliesLost).toBe(0);
    server.socket.write("new answer");
    expect(await Promise.all([client.ended, server.ended])).toEqual(["reset", "reset"]);
    expect(client.received).toBe("sold answer");
    expect(sockets.network.repliesLost).toBe(1);
  });

  it("loses an answer of an HTTP server once; the next request is answered", async () => {
    sockets = await ConnectedSockets.start(1, 0);
    const asked: string[] = [];
    const http = createServer((incoming, answer) => {
      asked.push(String(incoming.url));
      answer.end("done");
    });
    const target = new URL(`http://127.0.0.1:${await listen(http)}`);
    const network = await FaultyNetwork.to(target, new Random(1));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string): Promise<unknown> =>
      new Promise((resolve) => {
        const outgoing = request(network.address + path, { agent, method: "POST" });
        outgoing.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
        outgoing.once("response", (answer) => {
          answer.resume();
          answer.once("end", () => resolve(answer.statusCode));
        });
        outgoing.end("body");
      });
    expect(await ask("/1")).toBe(200);
    network.loseAnswer();
    expect(await ask("/2")).toBe("ECONNRESET");
    expect(await ask("/3")).toBe(200);
    expect(asked).toEqual(["/1", "/2", "/3"]);
    agent.destroy();
    await network.close();
    http.close();
  });

  it("resets a client if the target doesn't listen", async () => {
    sockets = await ConnectedSockets.start(1, 0);
    const target = new URL(`http://127.0.0.1:${await freePort()}`);
    const network = await FaultyNetwork.to(target, new Random(1));
    const socket = connect(Number(new URL(network.address).port), "127.0.0.1");
    const [error]: NodeJS.ErrnoException[] = await once(socket, "error");
    expect(error?.code).toBe("ECONNRESET");
    await network.close();
  });

  it("carries a half-close as a half-close, and a reset as a reset", async () => {
    sockets = await ConnectedSockets.start(1, 2);
    const { client, server } = only();
    client.socket.end("bye");
    expect(await server.ended).toBe("fin");
    server.socket.end("late answer");
    expect(await client.ended).toBe("fin");
    expect(client.received).toBe("slate answer");
    sockets.servers[1]?.socket.resetAndDestroy();
    expect(await sockets.clients[1]?.ended).toBe("reset");
  });
});

/** Connects a client to the network, and waits until it is refused or carried to the server. */
async function outcomeOfConnect(network: FaultyNetwork): Promise<"refused" | "carried"> {
  const socket = connect(Number(new URL(network.address).port), "127.0.0.1");
  socket.on("error", () => {});
  while (!socket.closed && network.connections === 0) await new Promise(setImmediate);
  const outcome = socket.closed ? "refused" : "carried";
  socket.destroy();
  return outcome;
}

function numbered(bytes: number): string {
  return Array.from({ length: bytes / 10 }, (_, index) => String(index).padStart(10, "0")).join("");
}
