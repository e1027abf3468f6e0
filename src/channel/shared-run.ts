import type { Publication } from "../protocol/publication.ts";

/**
 * The run of publications that was read last, for clients that return together (rule R7): they have missed the same
 * ones, get the same list, and a codec encodes a list once. It is held weakly: once the replies are sent, nothing holds
 * the list and what it was encoded to.
 */
export class SharedRun {
  #last: WeakRef<readonly Publication[]> | undefined;

  /**
   * The publications at these offsets, of which there is at least one.
   *
   * @param read makes a new list of them, which nobody changes
   */
  of(first: number, last: number, read: () => readonly Publication[]): readonly Publication[] {
    const known = this.#last?.deref();
    if (known?.[0]?.offset === first && known.at(-1)?.offset === last) return known;
    const run = read();
    this.#last = new WeakRef(run);
    return run;
  }

  /** The publications at these offsets may not be read any more, or are others now. */
  clear(): void {
    this.#last = undefined;
  }
}
