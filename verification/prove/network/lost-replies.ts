/** Which answers of a server are to be lost: each time the next one to a request that came after the wish. */
export class LostReplies {
  /** How many were lost so far. */
  count = 0;
  /** How many were wished for so far: the number of the newest wish. */
  ordered = 0;
  readonly #open: number[] = [];

  loseNext(): void {
    this.ordered++;
    this.#open.push(this.ordered);
  }

  /**
   * Whether an answer that is there now is to be lost; if so, it counts as lost.
   *
   * @param newestOrder the number of the newest wish when its request came
   */
  takes(newestOrder: number): boolean {
    const [oldest] = this.#open;
    if (oldest === undefined || oldest > newestOrder) return false;
    this.#open.shift();
    this.count++;
    return true;
  }
}
