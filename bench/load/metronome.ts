import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Beat } from "./metronome-thread.ts";

/**
 * Keeps times much better than the event loop's timers, which are late by a millisecond and more, as long as a whole
 * delivery takes. Reading the clock in a loop would use the processor that the systems need.
 */
export class Metronome {
  static async start(): Promise<Metronome> {
    const thread = new Worker(new URL("./metronome-thread.ts", import.meta.url));
    await once(thread, "online");
    return new Metronome(thread);
  }

  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  /**
   * Calls `due` for each time as soon as it has come. Resolves after the last.
   *
   * @param dueAtMs on this thread's clock of `performance`, ascending, at least one
   */
  async run(dueAtMs: readonly number[], due: (index: number) => void): Promise<void> {
    const times = new SharedArrayBuffer(dueAtMs.length * Float64Array.BYTES_PER_ELEMENT);
    const beat: Beat = {
      dueAtMs: new Float64Array(times),
      state: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)),
    };
    beat.dueAtMs.set(dueAtMs.map((time) => performance.timeOrigin + time));
    let called = 0;
    await new Promise<void>((resolve) => {
      this.#thread.on("message", () => {
        Atomics.store(beat.state, 1, 0);
        for (const now = Atomics.load(beat.state, 0); called < now; called++) due(called);
        if (called === dueAtMs.length) resolve();
      });
      this.#thread.postMessage(beat);
    });
    this.#thread.removeAllListeners("message");
  }

  async end(): Promise<void> {
    await this.#thread.terminate();
  }
}
