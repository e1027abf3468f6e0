import { once } from "node:events";
import { rmSync, mkdtempSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { LingeringClient } from "../../support/sockets/lingering-client.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { freePort } from "../../support/servers/listen.ts";
import { ServedServer } from "../../support/servers/served-server.ts";
import { signToken } from "../../support/test-tokens.ts";

/** So many that workerd starts, and so few that a hundred channels take more. */
const descriptors = 300;
const silentMax = Math.floor(descriptors * limits.descriptorsSilent);
const token = signToken({ sub: "alice" });
let folder: string;
let server: ServedServer;
let sockets: { cut(): void }[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-descriptors-"));
  const options = ["--port", String(await freePort()), "--state", join(folder, "state")];
  server = await ServedServer.start(options, descriptors);
});
afterEach(() => {
  for (const socket of sockets) socket.cut();
  sockets = [];
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

function address(path: string): string {
  return `ws://127.0.0.1:${server.port}${path}`;
}

/** The address for many channels, at which a gateway holds the sockets. */
function shared(): string {
  return address("/connection/websocket");
}

/** The address of a channel of its own. */
function ofChannel(index: number): string {
  return address(`/channel/channel${index}/websocket`);
}

/** Opens a socket that sends nothing. */
async function open(at: string): Promise<RawSocket> {
  const socket = await RawSocket.open(at);
  sockets.push(socket);
  return socket;
}

/** A client that asks for a socket without a token, and keeps its connection whatever the answer is. */
async function ask(index: number): Promise<{ readonly head: string; readonly socket: Socket }> {
  const socket = connect(server.port, "127.0.0.1");
  const lines = [
    `GET /channel/channel${index}/websocket HTTP/1.1`,
    "Host: localhost",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  ];
  socket.on("error", () => socket.destroy()).write(`${lines.join("\r\n")}\r\n\r\n`);
  const [head] = await once(socket, "data");
  return { head: String(head), socket };
}

describe.runIf(process.platform === "linux")("a server with few file descriptors", () => {
  it("[B31] closes the oldest silent connection of all its objects for another one", async () => {
    const first = await LingeringClient.open(ofChannel(0));
    const second = await LingeringClient.open(shared());
    sockets.push(first, second, await RawSocket.connect(shared(), token));
    while (sockets.length < silentMax + 1) await open(shared());
    await open(ofChannel(1));
    expect(await first.closeCode()).toBe(disconnectCodes.tooManyRequests.code);
    const last = await open(shared());
    expect(await second.closeCode()).toBe(disconnectCodes.tooManyRequests.code);
    // It was the last one, and has a place for as long as its connect takes.
    expect((await last.ask({ id: 1, connect: { token } })).connect).toBeDefined();
  }, 60_000);

  it("[B10] [B30] keeps a share for keys and tokens, and serves all again later", async () => {
    const rooms = await roomsTaken();
    expect(rooms).toBeGreaterThan(0);
    expect((await fetch(`http://127.0.0.1:${server.port}/health`)).status).toBe(200);
    await server.backend.publish("news", "hello");
    sockets.push(await RawSocket.open(`${shared()}?token=${token}`));
    const refused = await ask(1_000);
    expect(refused.head).toMatch(/^HTTP\/1.1 503 [^]*\r\nRetry-After: \d+\r\n/i);
    const sinceMs = Date.now();
    if (!refused.socket.closed) await once(refused.socket, "close");
    // workerd ends an idle connection after 15 s.
    expect(Date.now() - sinceMs).toBeLessThan(5_000);
    // Clients with a token go on until a request without a key gets nothing but 503.
    while ((await statusWithoutKey()) === 401)
      sockets.push(await RawSocket.open(`${ofChannel(sockets.length)}?token=${token}`));
    expect(await statusWithoutKey()).toBe(503);
    await server.backend.publish("channel0", "hello");
    for (const socket of sockets) socket.cut();
    // Channels are awake for about ten seconds.
    await expect.poll(() => isTaken(1_000), polling).toBe(true);
  }, 90_000);
});

async function isTaken(index: number): Promise<boolean> {
  const { head, socket } = await ask(index);
  socket.destroy();
  return head.startsWith("HTTP/1.1 101");
}

const polling = { timeout: 30_000, interval: 1_000 };

/** The status of a publish without a key: 401 as long as the server has descriptors for it. */
async function statusWithoutKey(): Promise<number> {
  const asked = fetch(`http://127.0.0.1:${server.port}/api/publish`, {
    method: "POST",
    body: "{}",
  });
  return (await asked).status;
}

/** Connects to one channel after the other until a client whose upgrade has no token is refused; gives their number. */
async function roomsTaken(): Promise<number> {
  for (let index = 0; ; index++) {
    const socket = await RawSocket.connect(ofChannel(index), token).catch(String);
    if (typeof socket === "string") return socket.includes("503") ? index : 0;
    sockets.push(socket);
  }
}
