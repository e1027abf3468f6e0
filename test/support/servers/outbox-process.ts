import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packageRoot } from "../../../cli/package-root.ts";
import { Inbox } from "../inbox.ts";

/** A line that `dormouse outbox --json` prints, as far as tests look into one. */
export interface OutboxLine {
  readonly event: string;
  readonly done?: number;
  readonly refused?: number;
  readonly side?: string;
  readonly rows?: number;
}

/** `dormouse outbox` as a process of its own. */
export class OutboxProcess {
  readonly lines = new Inbox<OutboxLine>();
  /** Its exit status; -1 after a signal. */
  readonly ended: Promise<number>;
  readonly #process: ChildProcess;

  /** Returns when it reads the table. */
  static async start(
    options: readonly string[],
    secrets: Readonly<Record<string, string>>,
  ): Promise<OutboxProcess> {
    const started = new OutboxProcess(options, secrets);
    await Promise.race([
      started.lines.first(({ event }) => event === "started"),
      started.ended.then((code) => {
        throw new Error(`dormouse outbox ended with ${code}`);
      }),
    ]);
    return started;
  }

  private constructor(options: readonly string[], secrets: Readonly<Record<string, string>>) {
    const script = join(packageRoot, "cli", "dormouse.ts");
    const started = spawn(process.execPath, [script, "outbox", "--json", ...options], {
      env: { ...process.env, ...secrets },
      stdio: ["ignore", "pipe", "inherit"],
    });
    createInterface(started.stdout).on("line", (line) => {
      const parsed: OutboxLine = JSON.parse(line);
      this.lines.push(parsed);
    });
    this.ended = once(started, "close").then(([code]) => (typeof code === "number" ? code : -1));
    this.#process = started;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }

  /** Ends it as systemd does, and gives its last line. */
  async stop(): Promise<OutboxLine | undefined> {
    this.#process.kill("SIGTERM");
    const code = await this.ended;
    if (code !== 0) throw new Error(`dormouse outbox ended with ${code}`);
    return this.lines.all.at(-1);
  }
}
