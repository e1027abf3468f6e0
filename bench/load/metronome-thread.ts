import { parentPort } from "node:worker_threads";

/** The thread behind {@link Metronome}: sleeps until each due time, and posts a message. */

/** The due times and the progress, shared with the other thread. */
export interface Beat {
  /** ms since 1970, ascending. */
  readonly dueAtMs: Float64Array;
  /** How many times are due by now; then, whether a message was posted and not handled yet. */
  readonly state: Int32Array;
}

function keep({ dueAtMs, state }: Beat): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const [index, due] of dueAtMs.entries()) {
    for (let left = due - nowMs(); left > 0; left = due - nowMs()) Atomics.wait(never, 0, 0, left);
    Atomics.store(state, 0, index + 1);
    // The other thread hasn't handled the last message yet, and will find this time along with it.
    if (Atomics.exchange(state, 1, 1) === 0) parentPort?.postMessage("due");
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

parentPort?.on("message", keep);
