import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** One Worker with its classes of objects, run by workerd itself: `wrangler dev` would put a proxy before it. */
export interface WorkerdSetup {
  /** The Worker's modules by their names, as text; the first one is its main module. */
  readonly modules: Readonly<Record<string, string>>;
  /** Its classes of objects, by the names of their bindings. */
  readonly classNames: Readonly<Record<string, string>>;
  /** Text bindings. */
  readonly variables: Readonly<Record<string, string>>;
  /** A second Worker, on a port of its own, that has the same objects and what the runtime keeps for tests. */
  readonly control?: { readonly module: string; readonly port: number };
}

/** workerd as a process of its own, with its storage on disk. */
export class Workerd {
  readonly #process: ChildProcess;

  /**
   * Starts it, and resolves when it answers.
   *
   * @param folder where its storage lies, and what it serves is written
   * @param port   on 127.0.0.1
   */
  static async start(setup: WorkerdSetup, folder: string, port: number): Promise<Workerd> {
    mkdirSync(join(folder, "storage"), { recursive: true });
    for (const [name, text] of Object.entries(setup.modules))
      writeFileSync(join(folder, name), text);
    if (setup.control !== undefined)
      writeFileSync(join(folder, "control.js"), setup.control.module);
    writeFileSync(join(folder, "config.capnp"), capnpConfig(setup, port));
    const started = spawn(workerdBinary(), ["serve", "--experimental", "config.capnp"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const workerd = new Workerd(started);
    await workerd.#answering(port);
    return workerd;
  }

  /** What it printed to its error output, where it says what went wrong: the last 64 KiB. */
  printed = "";

  private constructor(started: ChildProcess) {
    this.#process = started;
    started.stderr?.on("data", (chunk: Buffer) => {
      this.printed = (this.printed + chunk.toString()).slice(-65_536);
    });
  }

  /** Whether its process still runs. */
  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Ends it at once, in the middle of whatever it does. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** Asks it to end, and after so many ms doesn't ask any more. */
  async stop(patienceMs: number): Promise<void> {
    if (!this.running) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), patienceMs);
    await exited;
    clearTimeout(timer);
  }

  async #answering(port: number): Promise<void> {
    while (this.running) {
      try {
        await fetch(`http://127.0.0.1:${port}/health`, { method: "POST", body: "" });
        return;
      } catch {
        await pause(20);
      }
    }
    throw new Error(`workerd ended before it answered:\n${this.printed}`);
  }
}

function capnpConfig({ modules, classNames, variables, control }: WorkerdSetup, port: number) {
  const namespaces = Object.values(classNames).map(
    (name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`,
  );
  const objects = objectBindings(classNames, "");
  const texts = Object.entries(variables).map(
    ([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`,
  );
  const embedded = Object.keys(modules).map(
    (name) => `(name = "${name}", esModule = embed "${name}")`,
  );
  const others =
    control === undefined
      ? { services: "", sockets: "", worker: "" }
      : {
          services: `(name = "control", worker = .control),`,
          sockets: `, ${socket("control", control.port, "control")}`,
          worker: controlWorker(classNames),
        };
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    ${others.services}
    (name = "storage", disk = (path = "storage", writable = true)),
  ],
  sockets = [${socket("http", port, "main")}${others.sockets}],
);
const worker :Workerd.Worker = (
  modules = [${embedded.join(", ")}],
  compatibilityDate = "${compatibilityDate}",
  compatibilityFlags = ["no_web_socket_compression"],
  durableObjectNamespaces = [
    ${namespaces.join(",\n    ")}
  ],
  durableObjectStorage = (localDisk = "storage"),
  bindings = [
    ${[...objects, ...texts].join(",\n    ")}
  ],
);
${others.worker}`;
}

function controlWorker(classNames: WorkerdSetup["classNames"]): string {
  return `const control :Workerd.Worker = (
  modules = [(name = "control.js", esModule = embed "control.js")],
  compatibilityDate = "${compatibilityDate}",
  compatibilityFlags = ["unsafe_module"],
  bindings = [${objectBindings(classNames, `, serviceName = "main"`).join(", ")}],
);
`;
}

function socket(name: string, port: number, service: string): string {
  return `(name = "${name}", address = "127.0.0.1:${port}", http = (), service = "${service}")`;
}

function objectBindings(classNames: WorkerdSetup["classNames"], service: string): string[] {
  return Object.entries(classNames).map(
    ([name, className]) =>
      `(name = "${name}", durableObjectNamespace = (className = "${className}"${service}))`,
  );
}

/** The one of wrangler.toml. */
const compatibilityDate = "2026-11-02";

function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const found: { default: string } = require("workerd");
  return found.default;
}
