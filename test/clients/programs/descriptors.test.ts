import { readdirSync, rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { freePort } from "../../support/servers/listen.ts";
import { ServedServer } from "../../support/servers/served-server.ts";

/** So many that workerd starts, and so few that a hundred channels take more. */
const descriptors = 300;
let folder: string;
let server: ServedServer;
let sockets: readonly WebSocket[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-descriptors-"));
  const options = ["--port", String(await freePort()), "--state", join(folder, "state")];
  server = await ServedServer.start(options, descriptors);
});
afterAll(async () => {
  for (const socket of sockets) socket.terminate();
  await server.kill();
  rmSync(folder, { recursive: true });
});

/** Asks for a socket at a channel of its own; gives the status of the answer. */
function ask(index: number): Promise<{ readonly status: number; readonly socket: WebSocket }> {
  const socket = new WebSocket(
    `ws://127.0.0.1:${server.port}/channel/channel${index}/websocket?keepalive=client`,
  );
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve({ status: 101, socket }));
    socket.once("unexpected-response", (_, { statusCode = 0 }) => {
      // A connection that the client keeps would take its descriptor all the same.
      socket.on("error", () => undefined);
      socket.terminate();
      resolve({ status: statusCode, socket });
    });
    socket.once("error", reject);
  });
}

it.runIf(process.platform === "linux")(
  "[B10] a server refuses before its file descriptors run out, and serves again later",
  async () => {
    const asked: Awaited<ReturnType<typeof ask>>[] = [];
    for (let index = 0; index < 120; index++) asked.push(await ask(index));
    sockets = asked.map(({ socket }) => socket);
    const statuses = new Set(asked.map(({ status }) => status));
    expect(statuses).toEqual(new Set([101, 503]));
    expect((await fetch(`http://127.0.0.1:${server.port}/health`)).status).toBe(200);
    for (const socket of sockets) socket.terminate();
    // Channels are awake for about ten seconds.
    await expect
      .poll(async () => (await ask(1_000)).status, { timeout: 30_000, interval: 1_000 })
      .toBe(101);
    expect(readdirSync(join(folder, "state", "storage")).length).toBeGreaterThan(0);
  },
  60_000,
);
