import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A backend that is asked about connects, as a process of its own. */
export class HookBackend {
  /** The endpoint of the hook. */
  readonly url: string;
  readonly #process: ChildProcess;

  /** Starts it, and resolves when it answers. */
  static async start(): Promise<HookBackend> {
    const process = fork(fileURLToPath(new URL("./hook-server.ts", import.meta.url)));
    const [port]: number[] = await once(process, "message");
    if (port === undefined) throw new Error("the backend of the hook has no port");
    return new HookBackend(process, port);
  }

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.url = `http://127.0.0.1:${port}/connect`;
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }
}
