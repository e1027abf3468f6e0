import { parentPort } from "node:worker_threads";

/** The thread behind {@link Metronome}: sleeps until each time that is due, and says so. */

/** What is due when; both are shared with whoever is told. */
export interface Beat {
  /** ms since 1970, ascending. */
  readonly dueAtMs: Float64Array;
  /** How many are due by now; then, whether that was said and not heard yet. */
  readonly state: Int32Array;
}

function keep({ dueAtMs, state }: Beat): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const [index, due] of dueAtMs.entries()) {
    for (let left = due - nowMs(); left > 0; left = due - nowMs()) Atomics.wait(never, 0, 0, left);
    Atomics.store(state, 0, index + 1);
    // While it hasn't heard of the last one, it will find this one along with it.
    if (Atomics.exchange(state, 1, 1) === 0) parentPort?.postMessage("due");
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

parentPort?.on("message", keep);
