import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { TestBackend } from "./test-backend.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/** The data that `npm start` prints for a new user. */
export interface Welcome {
  readonly address: string;
  readonly socketAddress: string;
  /** "" if it says that only another issuer's token is valid. */
  readonly token: string;
  readonly apiKey: string;
  /** The address and the body of the example request. */
  readonly publishAddress: string;
  readonly publishBody: string;
}

/** The script of `npm start` as a process of its own, with all its children in one process group. */
export class StartedServer {
  readonly welcome: Welcome;
  readonly backend: TestBackend;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  /**
   * @param folder the objects' state, which the next server finds again
   * @param options more of the command line
   */
  static async start(
    port: number,
    folder: string,
    options: readonly string[] = [],
  ): Promise<StartedServer> {
    const started = runStart(["--port", String(port), "--persist-to", folder, ...options]);
    let printed = "";
    const welcomed = new Promise<Welcome>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        printed += chunk.toString();
        const welcome = parseWelcome(printed);
        if (welcome !== undefined) resolve(welcome);
      };
      started.stdout?.on("data", take);
      started.stderr?.on("data", take);
      started.once("exit", () => reject(new Error(`npm start ended and had printed:\n${printed}`)));
    });
    return new StartedServer(await welcomed, started);
  }

  private constructor(welcome: Welcome, started: ChildProcess) {
    this.welcome = welcome;
    this.backend = new TestBackend(welcome.address, welcome.apiKey);
    this.#process = started;
    this.#ended = once(started, "exit");
  }

  /** Ends all its processes at once. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Ends all its processes but the runtime at once, as when somebody kills what is named node. */
  async killScripts(): Promise<void> {
    const { pid } = this.#process;
    for (const { process: one, group, command } of processes()) {
      if (group === pid && !command.endsWith("workerd")) sendTo(one, "SIGKILL");
    }
    await this.#ended;
  }

  /** Ends the script as Ctrl-C in a terminal does, and waits until all its processes have ended. */
  stop(): Promise<void> {
    return this.#end("SIGINT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this.#process;
    if (pid === undefined || !sendTo(-pid, signal)) return;
    // The script may end before the runtime that it started.
    while (sendTo(-pid, 0)) await pause(20);
  }
}

/**
 * Starts a server that must not start, and gives its output and exit status; -1 for a server that started all the same.
 */
export async function refusedStart(
  options: readonly string[],
): Promise<{ readonly code: number; readonly printed: string }> {
  const started = runStart(options);
  let printed = "";
  const take = (chunk: Buffer) => {
    printed += chunk.toString();
    if (parseWelcome(printed) === undefined || started.pid === undefined) return;
    sendTo(-started.pid, "SIGKILL");
  };
  started.stdout?.on("data", take);
  started.stderr?.on("data", take);
  const code = await new Promise<number>((resolve) => {
    started.once("close", (status) => resolve(status ?? -1));
  });
  return { code, printed };
}

/** Runs the script of `npm start` in a process group of its own. When this process ends, the script ends by itself. */
function runStart(options: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(packageRoot, "cli", "serve", "start.ts"), ...options], {
    cwd: packageRoot,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NO_COLOR: "1",
      // Each start loads wrangler twice.
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), "dormouse-compiled"),
      // What the tests set for the servers that they start by themselves.
      X_LOCAL_OBSERVABILITY: undefined,
    },
  });
}

/**
 * @param target a process, or a process group as a negative number
 * @returns whether there was a process
 */
function sendTo(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false; // The only error is that there is no such process.
  }
}

interface RunningProcess {
  readonly process: number;
  readonly group: number;
  readonly command: string;
}

function processes(): readonly RunningProcess[] {
  const list = execFileSync("ps", ["-A", "-o", "pid=,pgid=,comm="], { encoding: "utf8" });
  return list.split("\n").flatMap((line) => {
    const [, one, group, command] = /^ *(\d+) +(\d+) +(.+?) *$/.exec(line) ?? [];
    if (command === undefined) return [];
    return [{ process: Number(one), group: Number(group), command }];
  });
}

function parseWelcome(printed: string): Welcome | undefined {
  const address = /^Dormouse serves (\S+)$/m.exec(printed)?.[1];
  const socketAddress = /^ +(ws:\S+)$/m.exec(printed)?.[1];
  const ownToken = /^ +(\S+\.\S+\.\S+)$/m.exec(printed.replaceAll(/ws:\S+/g, ""))?.[1];
  const token = /^with a token that your own issuer signs$/m.test(printed) ? "" : ownToken;
  const example = /^ +curl -X POST (\S+) -H "X-API-Key: (.+?)" -d '(.+)'\n/m.exec(printed);
  const [, publishAddress, apiKey, publishBody] = example ?? [];
  if (address === undefined || socketAddress === undefined || token === undefined) return undefined;
  if (publishAddress === undefined || apiKey === undefined || publishBody === undefined) {
    return undefined;
  }
  return { address, socketAddress, token, apiKey, publishAddress, publishBody };
}
