/** Work that is scheduled. */
export interface Timer {
  cancel(): void;
}

interface Moment {
  readonly atMs: number;
  work: (() => void) | undefined;
}

/** The world's clock. It stands still during an event and then jumps to the next one. */
export class Timeline {
  nowMs: number;
  /** Sorted, with the next event last; of simultaneous events the one that was scheduled first comes first. */
  readonly #moments: Moment[] = [];
  #passed = 0;
  /** The events since time last passed. */
  #still = 0;

  /** @param startMs ms since 1970 */
  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** The number of the event that happens now. */
  get moment(): number {
    return this.#passed;
  }

  /** Schedules work in so many ms. */
  after(waitMs: number, work: () => void): Timer {
    const moment: Moment = { atMs: this.nowMs + Math.max(0, waitMs), work };
    this.#moments.splice(this.#placeOf(moment.atMs), 0, moment);
    return {
      cancel: () => {
        moment.work = undefined;
      },
    };
  }

  /**
   * Lets so much time pass, and does all work that is due until then. Throws after more events in all than a world has
   * that settles.
   */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const moment = this.#moments.at(-1);
      if (moment === undefined || moment.atMs > untilMs) break;
      this.#moments.pop();
      if (moment.work === undefined) continue;
      if (++this.#passed > momentsMax) throw new Error("it never comes to rest");
      this.#still = moment.atMs > this.nowMs ? 0 : this.#still + 1;
      if (this.#still > stillMax) throw new Error("it turns in a loop while no time passes");
      this.nowMs = moment.atMs;
      moment.work();
    }
    this.nowMs = untilMs;
  }

  /** The index before all events that are earlier or simultaneous. */
  #placeOf(atMs: number): number {
    let low = 0;
    let high = this.#moments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const moment = this.#moments[middle];
      if (moment !== undefined && moment.atMs > atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** More events than happen at the same time in the largest worlds. */
const stillMax = 10_000;
/** A hundred times as many events as the largest worlds have. */
const momentsMax = 1_000_000;
