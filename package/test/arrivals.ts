import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";

/** What arrives from somewhere, in its order, for a test to wait for. */
export class Arrivals<Item> {
  readonly #all: Item[] = [];
  readonly #waiting = new Set<() => void>();

  /** Everything so far. */
  get all(): readonly Item[] {
    return [...this.#all];
  }

  push(item: Item): void {
    this.#all.push(item);
    this.wake();
  }

  /** Lets those who wait look again, because something else has changed. */
  wake(): void {
    for (const look of this.#waiting) look();
  }

  clear(): void {
    this.#all.length = 0;
  }

  /**
   * Waits until so many have arrived, and gives all: more than asked for, where more have come.
   *
   * @param what   how a failure names what is waited for
   * @param failed the reason for which nothing more can come; undefined while something can
   * @throws {DormouseTestError} when the time is over, or when nothing more can come
   */
  async atLeast(
    count: number,
    withinMs: number,
    what: string,
    failed: () => string | undefined = () => undefined,
  ): Promise<readonly Item[]> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const look = () => {
      if (this.#all.length >= count) return resolve(undefined);
      const reason = failed();
      if (reason !== undefined) reject(this.#missing(count, what, reason));
    };
    const timer = setTimeout(
      () => reject(this.#missing(count, what, `${withinMs} ms are over`)),
      withinMs,
    );
    this.#waiting.add(look);
    try {
      look();
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
    return this.all;
  }

  #missing(count: number, what: string, reason: string): DormouseTestError {
    const came = JSON.stringify(this.#all).slice(0, testLimits.shownCharacters);
    return new DormouseTestError(
      `${this.#all.length} of ${count} ${what} have come, and ${reason}: ${came}`,
    );
  }
}
