import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { freePort } from "../../support/servers/listen.ts";
import { LingeringClient } from "../../support/sockets/lingering-client.ts";
import { ServedServer } from "../../support/servers/served-server.ts";

let folder: string;
let server: ServedServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dormouse-lingering-"));
  const config = JSON.stringify({ client: { stale_close_delay: "1s" } });
  const options = ["--port", String(await freePort()), "--state", join(folder, "state")];
  server = await ServedServer.start([...options, "--var", `config:${config}`]);
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

it("[B11] a client that never answers its close is dropped", async () => {
  const openedAtMs = Date.now();
  const client = await LingeringClient.open(`ws://127.0.0.1:${server.port}/channel/news/websocket`);
  expect(await client.closeCode()).toBe(3502);
  await client.ended;
  const tookMs = Date.now() - openedAtMs;
  expect(tookMs).toBeGreaterThan(limits.closeAnswerMs);
  expect(tookMs).toBeLessThan(2 * limits.closeAnswerMs);
}, 40_000);
