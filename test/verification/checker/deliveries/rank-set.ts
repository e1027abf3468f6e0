/**
 * The ranks of the publications that one subscription received, as runs. A subscription that receives everything has
 * one run, so the set takes a few numbers however much was delivered.
 */
export class RankSet {
  /** The first and the last rank of each run, ascending. */
  readonly #firsts: number[] = [];
  readonly #lasts: number[] = [];

  has(rank: number): boolean {
    const run = this.#runAt(rank);
    return run >= 0 && rank <= (this.#lasts[run] ?? -1);
  }

  /** @returns false if the rank was in the set already */
  add(rank: number): boolean {
    const newest = this.#lasts.length - 1;
    if (newest >= 0 && rank === (this.#lasts[newest] ?? 0) + 1) {
      this.#lasts[newest] = rank;
      return true;
    }
    const run = this.#runAt(rank);
    const last = this.#lasts[run] ?? -2;
    if (run >= 0 && rank <= last) return false;
    const joins = run >= 0 && last === rank - 1;
    const meets = this.#firsts[run + 1] === rank + 1;
    if (joins && meets) {
      this.#lasts.splice(run, 1);
      this.#firsts.splice(run + 1, 1);
    } else if (joins) {
      this.#lasts[run] = rank;
    } else if (meets) {
      this.#firsts[run + 1] = rank;
    } else {
      this.#firsts.splice(run + 1, 0, rank);
      this.#lasts.splice(run + 1, 0, rank);
    }
    return true;
  }

  /** The last run that begins at or before a rank; -1 if there is none. */
  #runAt(rank: number): number {
    let low = 0;
    let high = this.#firsts.length - 1;
    if (high >= 0 && (this.#firsts[high] ?? 0) <= rank) return high;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if ((this.#firsts[middle] ?? 0) <= rank) low = middle + 1;
      else high = middle - 1;
    }
    return high;
  }
}
