import { performance } from "node:perf_hooks";
import type { Random } from "../../../support/random.ts";

/** How late bytes are, and for how long, in milliseconds. */
export interface Delay {
  /** The delay of every byte. */
  readonly ms: number;
  /** The maximum of a random additional delay. */
  readonly jitterMs: number;
  readonly forMs: number;
}

/** The present delay of a network, which all its connections share. */
export class NetworkDelay {
  /** False when certainly nothing is late; a field, because it is read for every chunk. */
  on = false;
  readonly #random: Random;
  #delay: Delay = { ms: 0, jitterMs: 0, forMs: 0 };
  #until = 0;

  /** @param random used by nothing else, because the number of draws depends on the traffic */
  constructor(random: Random) {
    this.#random = random;
  }

  /** Begins a delay, which replaces one that is in progress. */
  begin(delay: Delay): void {
    this.#delay = delay;
    this.#until = performance.now() + delay.forMs;
    this.on = true;
  }

  /** The delay of bytes that arrive now, in milliseconds. */
  next(): number {
    if (performance.now() >= this.#until) this.on = false;
    return this.on ? this.#delay.ms + this.#random.next() * this.#delay.jitterMs : 0;
  }
}
