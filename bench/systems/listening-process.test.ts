import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { processTimeMs } from "../scenarios/process-time.ts";
import { listeningProcess } from "./listening-process.ts";

it("finds the process that listens, and its time, on Linux alone", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const isLinux = process.platform === "linux";
  expect(listeningProcess(address.port)).toBe(isLinux ? process.pid : undefined);
  const { user, system } = process.cpuUsage();
  const ownMs = (user + system) / 1_000;
  const shownMs = isLinux ? processTimeMs(process.pid) : ownMs;
  // Children that have ended count as well.
  expect(shownMs).toBeGreaterThanOrEqual(ownMs - 100);
  server.close();
  await once(server, "close");
  expect(listeningProcess(address.port)).toBeUndefined();
});
