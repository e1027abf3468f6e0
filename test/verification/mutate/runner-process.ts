/**
 * Starts the processes of `runner.ts`, asks them to run tests, and ends one that doesn't answer in time, with all that
 * it has started.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mutant } from "./sample.ts";

/** What a runner is started with. */
export interface RunnerSettings {
  /** The project of vitest. */
  readonly project: Level;
  readonly mutants: readonly Mutant[];
  /** Whether it runs all files and counts what they come to; otherwise the first failure ends the run. */
  readonly counts: boolean;
  /** How long one test may take. */
  readonly patienceMs: number;
}

export type Level = "core" | "workers";

export interface RunOrder {
  /** The mutant to switch on, -1 for none. */
  readonly mutant: number;
  readonly visitsMax: number;
  /** Paths from the repository's root; all files of the project if undefined. */
  readonly files: readonly string[] | undefined;
}

interface Failure {
  /** The test's whole name; "" for the file as a whole. */
  readonly test: string;
  readonly message: string;
}

export interface FileRun {
  readonly file: string;
  readonly failures: readonly Failure[];
  readonly visits: readonly (readonly [mutant: number, times: number])[];
  readonly tookMs: number;
}

export interface RunResult {
  readonly files: readonly FileRun[];
  /** Errors outside of tests. */
  readonly errors: readonly string[];
}

/** One process at a time, that starts anew after it was ended. */
export class RunnerProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), "dormouse-mutate-"));
  #child: ChildProcess | undefined;

  constructor(settings: RunnerSettings) {
    writeFileSync(join(this.#folder, "settings.json"), JSON.stringify(settings));
  }

  /** @returns undefined if there was no answer in time */
  async run(order: RunOrder, timeoutMs: number): Promise<RunResult | undefined> {
    const child = await this.#started();
    const { promise, resolve } = Promise.withResolvers<RunResult | undefined>();
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    const end = () => resolve(undefined);
    child.once("message", (result: RunResult) => resolve(result));
    child.once("exit", end);
    child.send(order);
    const result = await promise;
    clearTimeout(timer);
    child.off("exit", end);
    if (result === undefined) this.#kill();
    return result;
  }

  close(): void {
    this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #started(): Promise<ChildProcess> {
    if (this.#child !== undefined) return this.#child;
    const log = openSync(join(this.#folder, "log"), "a");
    const child = fork(
      join(import.meta.dirname, "runner.ts"),
      [join(this.#folder, "settings.json")],
      // A group of its own, so that what it has started ends with it.
      { detached: true, stdio: ["ignore", log, log, "ipc"] },
    );
    this.#child = child;
    const [first] = await Promise.race([once(child, "message"), once(child, "exit")]);
    if (first !== "ready") throw new Error(`vitest doesn't start; see ${this.#folder}/log`);
    return child;
  }

  #kill(): void {
    const pid = this.#child?.pid;
    this.#child?.removeAllListeners();
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
