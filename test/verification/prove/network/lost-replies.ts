/**
 * Chooses the answers of a server that are lost: for each order, the next answer to a request that came after the
 * order.
 */
export class LostReplies {
  /** How many answers were lost so far. */
  count = 0;
  /** How many losses were ordered so far: the number of the newest order. */
  ordered = 0;
  readonly #open: number[] = [];

  loseNext(): void {
    this.ordered++;
    this.#open.push(this.ordered);
  }

  /**
   * Whether an answer that has arrived is lost; if so, it is counted.
   *
   * @param newestOrder the number of the newest order when the request came
   */
  takes(newestOrder: number): boolean {
    const [oldest] = this.#open;
    if (oldest === undefined || oldest > newestOrder) return false;
    this.#open.shift();
    this.count++;
    return true;
  }
}
