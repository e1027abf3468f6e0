import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  assetsModule,
  assetsSource,
  bracketed,
  type Compatibility,
  workerdConfig,
} from "./workerd-config.ts";
import { wranglerConfigOf } from "./wrangler-config.ts";

/** One Worker with its classes of objects, run by workerd itself: `wrangler dev` would put a proxy before it. */
export interface WorkerdSetup {
  /** The Worker's modules by their names, as text; the first one is its main module. */
  readonly modules: Readonly<Record<string, string>>;
  /** Its classes of objects, by the names of their bindings. */
  readonly classNames: Readonly<Record<string, string>>;
  /** Text bindings. They lie in a file beside the storage: what nobody may read belongs to the secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Text bindings that are handed to the process by its environment, and never lie on the disk. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Files that the Worker can fetch from a binding of that name. The folder's path is absolute. */
  readonly assets?: { readonly binding: string; readonly folder: string };
  /** Where it listens: an address or a name of this machine; 127.0.0.1 when absent. */
  readonly host?: string;
  /** How the runtime behaves; as the repository's wrangler.toml says when absent. */
  readonly compatibility?: Compatibility;
  /** What it prints goes where this process prints too, instead of being kept for {@link Workerd.printed}. */
  readonly printsThrough?: boolean;
  /** A descriptor of this process that its process keeps open too, for as long as it lives. */
  readonly keepsOpen?: number;
  /** Where the runtime's inspector listens, on 127.0.0.1; it is off when absent. */
  readonly inspectorPort?: number;
  /** A second Worker, on a port of its own, that has the same objects and what the runtime keeps for tests. */
  readonly control?: { readonly module: string; readonly port: number };
}

/** How a process ended: by itself with a status, or by a signal. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** workerd as a process of its own, with its storage on disk. */
export class Workerd {
  readonly #process: ChildProcess;
  /** Resolves when its process has ended, whoever ended it. */
  readonly ended: Promise<Ending>;

  /**
   * Starts it, and resolves when it answers.
   *
   * @param folder where its storage lies, and what it serves is written; made for this user alone when it isn't there
   * @param port   on the setup's host
   */
  static async start(setup: WorkerdSetup, folder: string, port: number): Promise<Workerd> {
    const workerd = Workerd.launch(setup, folder, port);
    const health = await workerd.health();
    if (health === undefined)
      throw new Error(`workerd ended before it answered:\n${workerd.printed}`);
    await health.arrayBuffer();
    return workerd;
  }

  /** Starts it without waiting for anything, for those who may want to end it before it answers. */
  static launch(setup: WorkerdSetup, folder: string, port: number): Workerd {
    write(setup, folder, port);
    const { inspectorPort, secrets, printsThrough = false, host = "127.0.0.1" } = setup;
    // It reads no input, so that whatever it is given for one merely stays open.
    const { keepsOpen: input = "ignore" } = setup;
    const inspector =
      inspectorPort === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspectorPort}`];
    // It says on the third descriptor that it listens: another server on its port can't be taken for it.
    const options = ["serve", "--experimental", "--control-fd=3", ...inspector, "config.capnp"];
    const output = printsThrough
      ? (["inherit", "inherit"] as const)
      : (["ignore", "pipe"] as const);
    const started = spawn(workerdBinary(), options, {
      cwd: folder,
      stdio: [input, ...output, "pipe"],
      env: { ...process.env, ...secrets },
    });
    return new Workerd(started, `http://${bracketed(reachable(host))}:${port}/health`);
  }

  /** What it printed to its error output, where it says what went wrong: the last 64 KiB. */
  printed = "";
  readonly #healthAddress: string;
  readonly #listening: Promise<true>;

  private constructor(started: ChildProcess, healthAddress: string) {
    this.#process = started;
    this.#healthAddress = healthAddress;
    started.stderr?.on("data", (chunk: Buffer) => {
      this.printed = (this.printed + chunk.toString()).slice(-65_536);
    });
    this.ended = new Promise((resolve) => {
      started.once("close", (code, signal) => resolve({ code, signal }));
    });
    this.#listening = listens(started);
  }

  /** Its first answer, which is a 503 with the reason where the Worker can't work; undefined when it ends before. */
  async health(): Promise<Response | undefined> {
    const isListening = await Promise.race([this.#listening, this.ended.then(() => false)]);
    if (!isListening) return undefined;
    try {
      return await fetch(this.#healthAddress, { method: "POST", body: "" });
    } catch {
      await this.ended;
      return undefined;
    }
  }

  /** Whether its process still runs. */
  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Of its process; undefined before it is there. */
  get processId(): number | undefined {
    return this.#process.pid;
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
}

/** Nobody else may read what is kept, nor what the Worker is told. */
function write(setup: WorkerdSetup, folder: string, port: number): void {
  mkdirSync(join(folder, "storage"), { recursive: true, mode: 0o700 });
  const { compatibility = committedCompatibility(), control, assets } = setup;
  const files = {
    ...setup.modules,
    ...(control !== undefined && { "control.js": control.module }),
    ...(assets !== undefined && { [assetsModule]: assetsSource }),
    "config.capnp": workerdConfig(setup, compatibility, port),
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    // A file that is there already would keep the rights it has.
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
}

function committedCompatibility(): Compatibility {
  const { compatibility_date: date = "", compatibility_flags: flags } = wranglerConfigOf({});
  return { date, flags };
}

/** Where a server that listens on all of a machine's addresses is found on the machine itself. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "*") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/** Resolves when the process says that it listens for requests. */
function listens(started: ChildProcess): Promise<true> {
  return new Promise((resolve) => {
    let said = "";
    started.stdio[3]?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(`"socket":"http"`)) resolve(true);
    });
  });
}

function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const found: { default: string } = require("workerd");
  return found.default;
}
