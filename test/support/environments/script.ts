import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { TestContext } from "vitest";
import { Inbox } from "../inbox.ts";

/** A report of a scenario: a line of JSON. */
export interface ScriptEvent {
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

/** A scenario in another language, in a process of its own. */
export class Script {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #events = new Inbox<ScriptEvent>();
  readonly #ended: Promise<void>;
  #errors = "";

  /**
   * @param test its end ends the process; if it failed, the process's output is shown
   * @param name the scenario's name in a failure
   * @param command the program, with {@link words}
   */
  constructor(test: TestContext, name: string, command: string, words: readonly string[]) {
    this.#process = spawn(command, words, {
      env: { ...process.env, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" },
    });
    createInterface(this.#process.stdout).on("line", (line) => {
      const event: ScriptEvent = JSON.parse(line);
      this.#events.push(event);
    });
    this.#process.stderr.on("data", (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    // A scenario that has ended reads nothing; waiting for its events rejects.
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
  get all(): readonly ScriptEvent[] {
    return this.#events.all;
  }

  /** The reports of one kind so far. */
  allOf(event: string): readonly ScriptEvent[] {
    return this.all.filter((one) => one.event === event);
  }

  /** The first report of a kind, or a later one, as soon as it is there. Rejects when the scenario ends before. */
  next(event: string, nth = 1): Promise<ScriptEvent> {
    return this.first((one) => this.allOf(event)[nth - 1] === one);
  }

  /** The first report that satisfies the condition, as soon as it is there. Rejects when the scenario ends before. */
  first(isIt: (event: ScriptEvent) => boolean): Promise<ScriptEvent> {
    const early = this.#ended.then(() => {
      throw new Error("the scenario ended before it reported what the test waits for");
    });
    return Promise.race([this.#events.first(isIt), early]);
  }

  /** Writes a line to the scenario's standard input. */
  sendLine(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Asks the scenario to finish, and {@link ended}. */
  finish(): Promise<readonly ScriptEvent[]> {
    this.#process.stdin.end();
    return this.ended();
  }

  /** Waits until the scenario has ended, and gives all its reports. Rejects when it failed. */
  async ended(): Promise<readonly ScriptEvent[]> {
    await this.#ended;
    return this.all;
  }

  async #kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended.catch(() => undefined);
  }
}
