import type { Timeline, Timer } from "./timeline.ts";

/** One life of an object's memory, from when the object wakes until it is thrown away. */
export class Incarnation {
  readonly #timeline: Timeline;
  /** What is under way; each says what becomes of it when the object crashes. */
  readonly #underWay = new Set<() => void>();
  /** Calls under way that there may be only one of at a time. */
  readonly callsInFlight = new Set<string>();
  over = false;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Nothing is under way, so the platform may throw the memory away. */
  get idle(): boolean {
    return this.#underWay.size === 0;
  }

  /**
   * Something is under way, until the function that this gives is called.
   *
   * @param crashed called when the memory goes before
   */
  busy(crashed: () => void = nothing): () => void {
    const entry = (): void => crashed();
    this.#underWay.add(entry);
    return () => this.#underWay.delete(entry);
  }

  /** Does the work in so many ms, unless this life is over by then. The object stays awake for it. */
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

/** A timer of which there is one, as the objects have them. */
export class NextTimer {
  readonly #incarnation: Incarnation;
  readonly #work: () => void;
  #timer: Timer | undefined;

  constructor(incarnation: Incarnation, work: () => void) {
    this.#incarnation = incarnation;
    this.#work = work;
  }

  /** @param waitMs undefined: never */
  set(waitMs: number | undefined): void {
    this.#timer?.cancel();
    this.#timer = waitMs === undefined ? undefined : this.#incarnation.after(waitMs, this.#work);
  }
}

function nothing(): void {
  // Most of what is under way just ends with the memory.
}
