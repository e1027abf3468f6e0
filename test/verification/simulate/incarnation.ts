import type { Timeline, Timer } from "./timeline.ts";

/** One incarnation of an object's memory, from the object's start until its memory is discarded. */
export class Incarnation {
  readonly #timeline: Timeline;
  /** Work in progress, as functions that are called if the object crashes. */
  readonly #underWay = new Set<() => void>();
  /** Calls in progress of which only one at a time is allowed. */
  readonly callsInFlight = new Set<string>();
  over = false;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Whether nothing is in progress, so that the platform may discard the memory. */
  get idle(): boolean {
    return this.#underWay.size === 0;
  }

  /**
   * Work is in progress until the returned function is called.
   *
   * @param crashed called when the memory is lost before that
   */
  busy(crashed: () => void = nothing): () => void {
    const entry = (): void => crashed();
    this.#underWay.add(entry);
    return () => this.#underWay.delete(entry);
  }

  /** Does work after so many ms, unless the incarnation is over by then. The object stays awake for it. */
  after(waitMs: number, work: () => void): Timer {
    const done = this.busy();
    const timer = this.#timeline.after(waitMs, () => {
      done();
      if (!this.over) work();
    });
    return {
      cancel: () => {
        timer.cancel();
        done();
      },
    };
  }

  /** The memory is gone. */
  end(): void {
    this.over = true;
    for (const crashed of this.#underWay) crashed();
    this.#underWay.clear();
  }
}

function nothing(): void {
  // Most work just ends with the memory.
}
