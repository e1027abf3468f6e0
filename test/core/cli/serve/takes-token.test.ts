import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { takesToken } from "../../../../cli/serve/takes-token.ts";
import { freePort, listen } from "../../../support/servers/listen.ts";

let server: Server;
let address: string;

beforeEach(async () => {
  server = createServer();
  address = `ws://127.0.0.1:${await listen(server)}/connection/websocket`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

type Upgraded = readonly [IncomingMessage, Duplex, Buffer];

function nextUpgrade(): Promise<Upgraded> {
  return new Promise((resolve) => {
    server.once("upgrade", (...upgraded: Upgraded) => resolve(upgraded));
  });
}

describe("whether a server takes a token", () => {
  it("[W1] is yes for one that gives a socket for it, which is then closed in the proper way", async () => {
    const sockets = new WebSocketServer({ noServer: true });
    const taken = takesToken(address, "a.b.c");
    const [request, socket, head] = await nextUpgrade();
    expect(request.url).toBe("/connection/websocket");
    expect(request.headers.authorization).toBe("Bearer a.b.c");
    const closed = new Promise<readonly [number, boolean]>((resolve) => {
      sockets.handleUpgrade(request, socket, head, (given) => {
        given.once("close", (code) => resolve([code, socket.destroyed]));
      });
    });
    expect(await taken).toBe(true);
    // 1005: a close frame came, without a code. A cut would be 1006.
    expect(await closed).toStrictEqual([1005, true]);
  });

  it.each([200, 401, 403, 404, 503])("[W1] is no for an answer with %i", async (status) => {
    const taken = takesToken(address, "a.b.c");
    const [, socket] = await nextUpgrade();
    socket.write(`HTTP/1.1 ${status} No\r\nContent-Length: 100000\r\n\r\nthe rest never comes`);
    expect(await taken).toBe(false);
    // The client leaves by itself.
    await buffer(socket).catch(() => undefined);
  });

  it("[W1] is no where the line is cut, or nobody listens", async () => {
    const taken = takesToken(address, "a.b.c");
    const [, socket] = await nextUpgrade();
    socket.destroy();
    expect(await taken).toBe(false);
    expect(await takesToken(`ws://127.0.0.1:${await freePort()}/`, "a.b.c")).toBe(false);
  });
});
