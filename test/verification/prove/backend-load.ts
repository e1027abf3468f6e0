import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../support/random.ts";
import { type BackendAddress, BackendCalls } from "./clients/backend-call.ts";
import type { Recorder } from "./history/recorder.ts";

/** What a backend does during a run, in loops that go on until they are stopped. */
export abstract class BackendLoad {
  protected readonly calls: BackendCalls;
  protected readonly random: Random;
  protected readonly recorder: Recorder;
  readonly #stopping = new AbortController();
  #underWay: Promise<unknown> = Promise.resolve();
  /** Failures that no server may cause, in sentences. */
  readonly failures: string[] = [];

  constructor(backend: BackendAddress, random: Random, recorder: Recorder) {
    this.calls = new BackendCalls(backend);
    this.random = random;
    this.recorder = recorder;
  }

  /** Begins the loops, each of which ends when its signal says so. */
  protected abstract loops(signal: AbortSignal): readonly Promise<void>[];

  start(): void {
    this.#underWay = Promise.all(this.loops(this.#stopping.signal));
  }

  /** Begins nothing more. Resolves when all is answered or given up; rejects when something failed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#underWay;
    this.throwFailures();
  }

  /** Ends without waiting for answers. No call may follow. */
  close(): void {
    this.#stopping.abort();
    this.calls.close();
  }

  /** Does something again and again, with pauses of random length. */
  protected async steadily(
    leastMs: number,
    mostMs: number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.wait(this.random.between(leastMs, mostMs));
      if (!signal.aborted) await work();
    }
  }

  /** Waits; ends early when the loops have to end. */
  protected async wait(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }

  protected throwFailures(): void {
    if (this.failures.length > 0) throw new Error(this.failures.join("\n"));
  }
}
