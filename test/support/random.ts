/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Random {
  #state: number;

  /** @param seed a whole number */
  constructor(seed: number) {
    // Without this, neighbouring seeds begin alike.
    this.#state = Math.imul(seed + 1, 0x9e_37_79_b1);
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** True with this probability, 0 for never and 1 for always. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of them; throws when there is none. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error("there is nothing to pick from");
    return item;
  }
}
