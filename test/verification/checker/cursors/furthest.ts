/** How far something has got, and when: offsets that only grow. */
export class Furthest {
  readonly #steps: { readonly offset: number; readonly time: number }[] = [];

  get offset(): number {
    return this.#steps.at(-1)?.offset ?? 0;
  }

  /** @param time µs, not before that of the call before */
  reach(offset: number, time: number): void {
    if (offset > this.offset) this.#steps.push({ offset, time });
  }

  /** When at least that offset was reached, µs; Infinity if it wasn't. */
  timeOf(offset: number): number {
    return this.#steps.find((step) => step.offset >= offset)?.time ?? Infinity;
  }

  /** How far it had got before a time. */
  before(time: number): number {
    return this.#steps.findLast((step) => step.time < time)?.offset ?? 0;
  }
}
