import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { TestBackend } from "./test-backend.ts";
import { testSecrets } from "../test-tokens.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** Secrets as environment variables; an empty one counts as missing. */
type Secrets = Readonly<Record<string, string>>;

/** The end of a process, and the output of the process and its children. */
export interface Ended {
  /** Its exit status; -1 after a signal. */
  readonly code: number;
  readonly printed: string;
}

/** The script of `npm run serve` as a process of its own, with all its children in one process group. */
export class ServedServer {
  /** The address that it prints, with the configured host. */
  readonly address: string;
  readonly #run: Run;

  /**
   * @param options     the command line
   * @param descriptors how many file descriptors each of its processes may have; absent for as many as this one
   * @param variables   of the environment; secrets among them
   */
  static async start(
    options: readonly string[],
    descriptors?: number,
    secrets: Secrets = testSecrets,
  ): Promise<ServedServer> {
    const run = new Run(options, secrets, descriptors);
    return new ServedServer(await run.address, run);
  }

  private constructor(address: string, run: Run) {
    this.address = address;
    this.#run = run;
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  /** A backend that calls the server over the loopback address, whatever its host. */
  get backend(): TestBackend {
    return new TestBackend(`http://127.0.0.1:${this.port}`, testSecrets.API_KEY);
  }

  /** Ends all its processes at once. */
  async kill(): Promise<void> {
    sendTo(-this.#run.processId, "SIGKILL");
    await this.#run.ended;
  }

  /** Ends the script alone, at once; its children stay. */
  async killScript(): Promise<void> {
    const exited = once(this.#run.process, "exit");
    sendTo(this.#run.processId, "SIGKILL");
    await exited;
  }

  /** Ends the script as systemd does, and waits until all its processes have ended. */
  stop(): Promise<Ended> {
    sendTo(this.#run.processId, "SIGTERM");
    return this.#run.ended;
  }
}

/**
 * Starts a server that must not start, and gives its output and exit status; -1 for a server that started all the same.
 */
export async function refusedServe(
  options: readonly string[],
  secrets: Secrets = testSecrets,
): Promise<Ended> {
  const run = new Run(options, secrets);
  await Promise.race([run.ended, run.address.then(() => sendTo(-run.processId, "SIGKILL"))]);
  return run.ended;
}

class Run {
  readonly process: ChildProcess;
  readonly processId: number;
  /** Resolves with the printed address; rejects if the script ends without printing one. */
  readonly address: Promise<string>;
  /** Resolves when all processes that print through the script have ended, the runtime included. */
  readonly ended: Promise<Ended>;

  constructor(options: readonly string[], secrets: Secrets, descriptors?: number) {
    const script = [join(packageRoot, "cli", "serve", "serve.ts"), ...options];
    const limited = [`ulimit -n ${descriptors} && exec "$@"`, "sh", process.execPath, ...script];
    const [command, args] =
      descriptors === undefined ? [process.execPath, script] : ["sh", ["-c", ...limited]];
    const started = spawn(command, args, {
      cwd: packageRoot,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", ...secrets },
    });
    if (started.pid === undefined) throw new Error("npm run serve could not be started");
    this.process = started;
    this.processId = started.pid;
    let printed = "";
    const addressed = Promise.withResolvers<string>();
    const take = (chunk: Buffer) => {
      printed += chunk.toString();
      const address = /^Dormouse serves (\S+), its state is in /m.exec(printed)?.[1];
      if (address !== undefined) addressed.resolve(address);
    };
    started.stdout.on("data", take);
    started.stderr.on("data", take);
    this.ended = new Promise((resolve) => {
      started.once("close", (code) => {
        addressed.reject(new Error(`npm run serve ended and had printed:\n${printed}`));
        resolve({ code: code ?? -1, printed });
      });
    });
    this.address = addressed.promise;
    // A refused server has no address to wait for.
    this.address.catch(() => undefined);
  }
}

/** @param target a process, or a process group as a negative number; ignored if it has ended */
function sendTo(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
