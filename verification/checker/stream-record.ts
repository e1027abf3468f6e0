import type { PublicationRecord } from "./publication-record.ts";

/** Somebody was told by a subscribe reply that a stream goes so far. */
export interface Claim {
  readonly offset: number;
  /** The number of the happening that said it. */
  readonly number: number;
  readonly process: string;
}

/** What is known of one epoch of a channel: which value stands where, and how far it goes. */
export class StreamRecord {
  readonly epoch: string;
  /** When anybody first heard of it, µs. */
  readonly knownTime: number;
  readonly byOffset = new Map<number, PublicationRecord>();
  /** The highest offset that was acknowledged or heard. */
  top = 0;
  /** Seconds of the past in which it grew: when each began and ended, and the top at its end; oldest first. */
  readonly #tops: { readonly begin: number; end: number; top: number }[] = [];

  /** Of what replies said before anybody knew of it, what was further than what any reply before had said; oldest first. */
  readonly #claims: Claim[] = [];

  constructor(epoch: string, knownTime: number) {
    this.epoch = epoch;
    this.knownTime = knownTime;
  }

  /** Somebody knows of this offset now. */
  reach(offset: number, time: number): void {
    if (offset <= this.top) return;
    this.top = offset;
    const last = this.#tops.at(-1);
    if (last === undefined || time - last.begin >= sampleMicroseconds) {
      this.#tops.push({ begin: time, end: time, top: offset });
    } else {
      last.end = time;
      last.top = offset;
    }
  }

  /** A reply says that it goes so far. Only what nobody knows of yet is of interest. */
  claim(claim: Claim): void {
    const furthest = this.#claims.at(-1)?.offset ?? 0;
    if (claim.offset > Math.max(this.top, furthest)) this.#claims.push(claim);
  }

  /** The first reply that said that it goes up to an offset, if it came before the happening of that number. */
  claimBefore(offset: number, number: number): Claim | undefined {
    let low = 0;
    let high = this.#claims.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#claims[middle]?.offset ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    const claim = this.#claims[low];
    return claim !== undefined && claim.number < number ? claim : undefined;
  }

  /** How far it surely went at a moment; about a second's publications less than it did. */
  topBefore(time: number): number {
    for (let index = this.#tops.length - 1; index >= 0; index--) {
      const sample = this.#tops[index];
      if (sample !== undefined && sample.end <= time) return sample.top;
    }
    return 0;
  }
}

const sampleMicroseconds = 1_000_000;
