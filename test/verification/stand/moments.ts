/** What is going to happen, in the order of time. Of simultaneous moments the one that was added first comes first. */
export class Moments {
  nowMs: number;
  readonly #heap: Moment[] = [];
  #added = 0;

  /** @param startMs ms since 1970 */
  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** Does work at a time, ms since 1970; at once if that has passed. */
  at(atMs: number, work: () => void): void {
    const moment = { atMs: Math.max(atMs, this.nowMs), number: this.#added++, work };
    let index = this.#heap.length;
    this.#heap.push(moment);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !isBefore(moment, parent)) break;
      this.#heap[index] = parent;
      index = above;
    }
    this.#heap[index] = moment;
  }

  /** Lets time pass, and does all work that is due until then. */
  passUntil(untilMs: number): void {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.atMs > untilMs) break;
      this.#removeFirst();
      this.nowMs = first.atMs;
      first.work();
    }
    this.nowMs = untilMs;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const right = this.#heap[left + 1];
      let child = this.#heap[left];
      if (child === undefined) break;
      let at = left;
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        at = left + 1;
      }
      if (!isBefore(child, last)) break;
      this.#heap[index] = child;
      index = at;
    }
    this.#heap[index] = last;
  }
}

interface Moment {
  readonly atMs: number;
  readonly number: number;
  readonly work: () => void;
}

function isBefore(one: Moment, other: Moment): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.number < other.number);
}
