import { performance } from "node:perf_hooks";
import type { Random } from "../../../test/support/random.ts";

/** How late bytes are to be, and for how long that goes on, in milliseconds. */
export interface Delay {
  /** What every byte waits. */
  readonly ms: number;
  /** What it waits at most besides, at random. */
  readonly jitterMs: number;
  readonly forMs: number;
}

/** How late the bytes of a network are at the moment: all connections look at the same one. */
export class NetworkDelay {
  /** False when certainly nothing is late: a field, because it is looked at for every chunk. */
  on = false;
  readonly #random: Random;
  #delay: Delay = { ms: 0, jitterMs: 0, forMs: 0 };
  #until = 0;

  /** @param random used by nobody else: how often it is asked depends on the traffic */
  constructor(random: Random) {
    this.#random = random;
  }

  /** Begins now, in place of a delay that goes on. */
  begin(delay: Delay): void {
    this.#delay = delay;
    this.#until = performance.now() + delay.forMs;
    this.on = true;
  }

  /** How long something that comes now has to wait, in milliseconds. */
  next(): number {
    if (performance.now() >= this.#until) this.on = false;
    return this.on ? this.#delay.ms + this.#random.next() * this.#delay.jitterMs : 0;
  }
}
