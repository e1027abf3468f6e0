import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { System } from "./system.ts";

/** Sends posted data to all sockets and does nothing else: shows the maximum of the load generator. */
export const nullSystem: System = {
  name: "null",
  async start() {
    const server = fork(fileURLToPath(new URL("./null-server.ts", import.meta.url)));
    const [port]: number[] = await once(server, "message");
    if (port === undefined || server.pid === undefined)
      throw new Error("the null server has no port");
    return {
      port,
      processId: server.pid,
      sleep: () => Promise.reject(new Error("the null server has no objects that sleep")),
      counts: () => Promise.reject(new Error("the null server counts nothing")),
      async stop() {
        if (server.exitCode !== null || server.signalCode !== null) return;
        const exited = once(server, "exit");
        server.kill("SIGKILL");
        await exited;
      },
    };
  },
};
