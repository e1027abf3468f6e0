/** Something that is going to happen. */
export interface Timer {
  cancel(): void;
}

interface Moment {
  readonly atMs: number;
  work: (() => void) | undefined;
}

/** The world's time: it stands still while something happens, and then jumps to what happens next. */
export class Timeline {
  nowMs: number;
  /** The next one last; of those at the same time the one that was asked for first comes first. */
  readonly #moments: Moment[] = [];
  #passed = 0;

  /** @param startMs ms since 1970 */
  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** Does the work in so many ms. */
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
   * Lets so much time pass, and everything happen that is due until then. Throws when more has happened in all than does in
   * a world that comes to rest.
   */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const moment = this.#moments.at(-1);
      if (moment === undefined || moment.atMs > untilMs) break;
      this.#moments.pop();
      if (moment.work === undefined) continue;
      if (++this.#passed > momentsMax) throw new Error("it never comes to rest");
      this.nowMs = moment.atMs;
      moment.work();
    }
    this.nowMs = untilMs;
  }

  /** Before all that are earlier or as early. */
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

/** A hundred times as much as happens in the largest of worlds. */
const momentsMax = 1_000_000;
