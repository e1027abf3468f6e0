import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** One Worker with its classes of objects, run by workerd itself: `wrangler dev` would put a proxy before it. */
export interface WorkerdSetup {
  /** The Worker's only module, as text. */
  readonly module: string;
  /** Its classes of objects, by the names of their bindings. */
  readonly classNames: Readonly<Record<string, string>>;
  /** Text bindings. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface WorkerdServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts workerd on a free port with its storage in a new folder; resolves when it answers. */
export async function startWorkerd(setup: WorkerdSetup): Promise<WorkerdServer> {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-bench-"));
  mkdirSync(join(folder, "storage"));
  writeFileSync(join(folder, "worker.js"), setup.module);
  const port = await freePort();
  writeFileSync(join(folder, "config.capnp"), capnpConfig(setup, port));
  const server = spawn(workerdBinary(), ["serve", "--experimental", "config.capnp"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await answering(port, server);
  return {
    port,
    stop: async () => {
      const exited = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}

function capnpConfig({ classNames, variables }: WorkerdSetup, port: number): string {
  const namespaces = Object.values(classNames).map(
    (name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`,
  );
  const objects = Object.entries(classNames).map(
    ([name, className]) =>
      `(name = "${name}", durableObjectNamespace = (className = "${className}"))`,
  );
  const texts = Object.entries(variables).map(
    ([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "storage", disk = (path = "storage", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-02",
  compatibilityFlags = ["no_web_socket_compression"],
  durableObjectNamespaces = [
    ${namespaces.join(",\n    ")}
  ],
  durableObjectStorage = (localDisk = "storage"),
  bindings = [
    ${[...objects, ...texts].join(",\n    ")}
  ],
);
`;
}

function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const found: { default: string } = require("workerd");
  return found.default;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No port is free");
  return address.port;
}

async function answering(port: number, server: ChildProcess): Promise<void> {
  while (server.exitCode === null) {
    try {
      await fetch(`http://127.0.0.1:${port}/health`, { method: "POST", body: "" });
      return;
    } catch {
      await pause(50);
    }
  }
  throw new Error("workerd ended before it answered");
}
