import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { assetsModule, assetsSource, bracketed, workerdConfig } from "./workerd-config.ts";
import type { Compatibility } from "../../src/contract/runtime-flags.ts";
import { writeFiles } from "../configuration/write-files.ts";
import { wranglerConfigOf } from "../deployment/wrangler-config.ts";

/**
 * One Worker with its classes of objects, run by workerd directly, because `wrangler dev` would put a proxy before it.
 */
export interface WorkerdSetup {
  /** The source texts of the Worker's modules by their names; the first one is the main module. */
  readonly modules: Readonly<Record<string, string>>;
  /** The names of the classes of objects, by the names of their bindings. */
  readonly classNames: Readonly<Record<string, string>>;
  /** Text bindings. They are stored in a file next to the storage, so confidential values belong in `secrets`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Text bindings that the process gets through its environment, and that are never stored on the disk. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Static files that the Worker fetches through a binding. The path of the folder is absolute. */
  readonly assets?: { readonly binding: string; readonly folder: string };
  /** The addresses of other Workers that this one fetches through bindings, by the names of the bindings. */
  readonly services?: Readonly<Record<string, string>>;
  /** How many file descriptors the process may have, if the Worker is to watch them. */
  readonly descriptorsMax?: number;
  /** The address or host name on which the server listens; by default 127.0.0.1. */
  readonly host?: string;
  /** The compatibility settings; by default those of the repository's wrangler.toml. */
  readonly compatibility?: Compatibility;
  /** Whether the output goes to the output of this process instead of {@link Workerd.printed}. */
  readonly printsThrough?: boolean;
  /** A descriptor of this process that workerd keeps open while it lives. */
  readonly keepsOpen?: number | undefined;
  /** The descriptor of a socket of this process that listens already, in place of the host and the port. */
  readonly listensOn?: number | undefined;
  /** The port of the runtime's inspector on 127.0.0.1; if absent, the inspector is off. */
  readonly inspectorPort?: number;
  /** A second Worker on a port of its own, with the same objects and the runtime's interfaces for tests. */
  readonly control?: { readonly module: string; readonly port: number };
}

/** How a process ended: with a status, or by a signal. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A workerd process with its storage on disk. */
export class Workerd {
  readonly #process: ChildProcess;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<Ending>;

  /**
   * Starts workerd, and resolves when it answers.
   *
   * @param folder for the storage and the files of the setup; created for this user alone if it doesn't exist
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

  /** Starts workerd without waiting, for callers that may want to end it before it answers. */
  static launch(setup: WorkerdSetup, folder: string, port: number): Workerd {
    write(setup, folder, port);
    const { inspectorPort, secrets, printsThrough = false, host = "127.0.0.1" } = setup;
    // workerd reads no input, so the descriptor merely stays open.
    const { keepsOpen: input = "ignore", listensOn } = setup;
    const inspector =
      inspectorPort === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspectorPort}`];
    // workerd reports on the third descriptor that it listens, so another server on the port can't be mistaken for it.
    const listening = listensOn === undefined ? [] : ["--socket-fd=http=4"];
    const options = ["serve", "--experimental", "--control-fd=3", ...listening, ...inspector];
    const output = printsThrough
      ? (["inherit", "inherit"] as const)
      : (["ignore", "pipe"] as const);
    const started = spawn(workerdBinary(), [...options, "config.capnp"], {
      cwd: folder,
      stdio: [input, ...output, "pipe", ...(listensOn === undefined ? [] : [listensOn])],
      env: { ...process.env, ...secrets },
    });
    return new Workerd(started, `http://${bracketed(reachable(host))}:${port}/health`);
  }

  /** The last 64 KiB of the error output, which says what went wrong. */
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
      // As while its package is installed anew.
      started.once("error", ({ message }) => {
        this.printed += message;
        resolve({ code: 127, signal: null });
      });
    });
    this.#listening = listens(started);
  }

  /**
   * The first answer of the server: status 503 with the problems if the Worker isn't configured; undefined if workerd
   * ends before.
   */
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

  /** Whether the process is running. */
  get running(): boolean {
    const { pid, exitCode, signalCode } = this.#process;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  /** The id of the process; undefined if it couldn't be started. */
  get processId(): number | undefined {
    return this.#process.pid;
  }

  /** Kills the process at once. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** Asks the process to end, and kills it after so many ms. */
  async stop(patienceMs: number): Promise<void> {
    if (!this.running) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), patienceMs);
    await exited;
    clearTimeout(timer);
  }
}

/** The problems that the Worker reports; "" if there are none; undefined if it ended before it answered. */
export async function problemsOf(workerd: Workerd): Promise<string | undefined> {
  const health = await workerd.health();
  if (health === undefined) return undefined;
  if (health.status !== 503) return "";
  // The problem of a secret ends with a command that helps only where the Worker is deployed.
  return (await health.text()).replaceAll(/: set it with .*/g, "").trimEnd();
}

/** The status as a shell computes it: 128 plus the number of a signal. */
export function statusOf({ code, signal }: Ending): number {
  return code ?? (signal === null ? 1 : 128 + constants.signals[signal]);
}

/** How a process ended, for a person. */
export function howItEnded(ending: Ending): string {
  return ending.signal ?? `status ${statusOf(ending)}`;
}

/** Writes the files of a setup. Only this user may read them and the storage. */
function write(setup: WorkerdSetup, folder: string, port: number): void {
  mkdirSync(join(folder, "storage"), { recursive: true, mode: 0o700 });
  const { compatibility = committedCompatibility(), control, assets } = setup;
  const files = {
    ...setup.modules,
    ...(control !== undefined && { "control.js": control.module }),
    ...(assets !== undefined && { [assetsModule]: assetsSource }),
    "config.capnp": workerdConfig(setup, compatibility, port),
  };
  writeFiles(
    Object.entries(files).map(([name, contents]) => {
      const path = join(folder, name);
      return { path, shown: path, contents, mode: 0o600, replaces: true };
    }),
  );
}

function committedCompatibility(): Compatibility {
  const { compatibility_date: date = "", compatibility_flags: flags } = wranglerConfigOf({});
  return { date, flags };
}

/** The address at which this machine reaches a server that may listen on all addresses. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "*") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

/** Resolves when the process reports that it listens for requests. */
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
