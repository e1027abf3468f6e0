import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "vitest";
import { Inbox } from "./inbox.ts";

/** What a scenario reports: a line of JSON. */
export interface PythonEvent {
  readonly event: string;
  readonly channel?: string;
  readonly client?: string;
  readonly [detail: string]: Detail | undefined;
}

type Detail =
  | string
  | number
  | boolean
  | null
  | readonly Detail[]
  | { readonly [name: string]: Detail };

/** One of our Python scenarios in a process of its own. */
export class PythonScript {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #events = new Inbox<PythonEvent>();
  readonly #ended: Promise<void>;
  #errors = "";

  /**
   * @param test its end ends the process; if it failed, what the process printed is shown
   * @param interpreter of the environment that the scenario needs
   * @param file the scenario's path
   * @param options its only argument
   */
  constructor(test: TestContext, interpreter: string, file: string, options: object) {
    const name = basename(file);
    // Undisturbed by the user's settings for Python, with UTF-8, and without leaving files behind.
    const flags = ["-E", "-s", "-B", "-X", "utf8"];
    this.#process = spawn(interpreter, [...flags, file, JSON.stringify(options)], {
      env: { ...process.env, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" },
    });
    createInterface(this.#process.stdout).on("line", (line) => {
      const event: PythonEvent = JSON.parse(line);
      this.#events.push(event);
    });
    this.#process.stderr.on("data", (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    // A scenario that ended meanwhile hears nothing: what waits for its events is told so.
    this.#process.stdin.on("error", () => undefined);
    this.#ended = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${name} ended with ${code}:\n${this.#errors}`));
      });
    });
    this.#ended.catch(() => undefined); // Whoever waits hears of it.
    test.onTestFinished(() => this.#kill());
    test.onTestFailed(() => {
      const reported = this.all.map((event) => JSON.stringify(event)).join("\n");
      console.error(`${name} had reported:\n${reported}\nand had printed:\n${this.#errors}`);
    });
  }

  /** Everything that was reported so far. */
  get all(): readonly PythonEvent[] {
    return this.#events.all;
  }

  /** The reports of one kind so far. */
  those(event: string): readonly PythonEvent[] {
    return this.all.filter((one) => one.event === event);
  }

  /** The first report of a kind, or a later one, as soon as it is there. Rejects when the scenario ends before. */
  next(event: string, nth = 1): Promise<PythonEvent> {
    return this.first((one) => this.those(event)[nth - 1] === one);
  }

  /** The first report that is like that, as soon as it is there. Rejects when the scenario ends before. */
  first(isIt: (event: PythonEvent) => boolean): Promise<PythonEvent> {
    const early = this.#ended.then(() => {
      throw new Error("the scenario ended before it reported what the test waits for");
    });
    return Promise.race([this.#events.first(isIt), early]);
  }

  /** Gives the scenario a line that it asked for. */
  tell(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Asks the scenario to finish, and {@link ending}. */
  finish(): Promise<readonly PythonEvent[]> {
    this.#process.stdin.end();
    return this.ending();
  }

  /** Waits until the scenario is over, and gives all that it reported. Rejects when it failed. */
  async ending(): Promise<readonly PythonEvent[]> {
    await this.#ended;
    return this.all;
  }

  async #kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended.catch(() => undefined);
  }
}
