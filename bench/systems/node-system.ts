import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { installPeers, peersFolder } from "./installed-peers.ts";
import type { RunningSystem, System } from "./system.ts";
import type { SystemName } from "./wire.ts";

/** A server on Node.js, as a process of its own. It prints its port, and ends together with the bench. */
export function nodeSystem(name: SystemName, script: string): System {
  return {
    name,
    start: async () => {
      await installPeers();
      return startNode(join(peersFolder, script));
    },
  };
}

async function startNode(script: string): Promise<RunningSystem> {
  const server = spawn(process.execPath, [script], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const exited = once(server, "exit");
  const port = await Promise.race([
    once(server, "message").then(([said]) => Number(said)),
    exited.then(() => undefined),
  ]);
  const { pid: processId } = server;
  if (port === undefined || processId === undefined)
    throw new Error(`${script} ended before it listened`);
  return {
    port,
    processId,
    sleep: () => Promise.reject(new Error("A process on Node has no objects that sleep")),
    counts: () => Promise.reject(new Error("A process on Node has no objects to be counted")),
    stop: async () => {
      server.kill("SIGKILL");
      await exited;
    },
  };
}
