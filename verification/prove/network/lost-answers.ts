/** Which answers of a server are to be lost: each time the next one to a request that came after the wish. */
export class LostAnswers {
  /** How many were lost so far. */
  count = 0;
  /** How many were wished for so far: the number of the newest wish. */
  wishes = 0;
  readonly #open: number[] = [];

  wish(): void {
    this.wishes++;
    this.#open.push(this.wishes);
  }

  /**
   * Whether an answer that is there now is to be lost; if so, it counts as lost.
   *
   * @param newestWish the number of the newest wish when its request came
   */
  takes(newestWish: number): boolean {
    const [oldest] = this.#open;
    if (oldest === undefined || oldest > newestWish) return false;
    this.#open.shift();
    this.count++;
    return true;
  }
}
