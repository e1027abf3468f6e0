import type { PublicationRecord } from "./publication-record.ts";

/** A subscribe reply's statement that a stream goes up to an offset. */
export interface Claim {
  readonly offset: number;
  /** The number of the reply's event. */
  readonly number: number;
  readonly process: string;
}

/** What the history says about one epoch of a channel: the value at each offset, and the top. */
export class StreamRecord {
  readonly epoch: string;
  /** When the epoch first appeared in the history, µs. */
  readonly knownTime: number;
  readonly byOffset = new Map<number, PublicationRecord>();
  /** The highest offset that was acknowledged or delivered. */
  top = 0;
  /** Seconds in which the stream grew: begin, end, and the top at the end; oldest first. */
  readonly #tops: { readonly begin: number; end: number; top: number }[] = [];

  /** Statements of replies about offsets that were unknown then, each higher than all before; oldest first. */
  readonly #claims: Claim[] = [];

  constructor(epoch: string, knownTime: number) {
    this.epoch = epoch;
    this.knownTime = knownTime;
  }

  /** An offset is known from now on. */
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

  /** A reply states that the stream goes up to an offset. Only offsets that aren't known yet matter. */
  claim(claim: Claim): void {
    const furthest = this.#claims.at(-1)?.offset ?? 0;
    if (claim.offset > Math.max(this.top, furthest)) this.#claims.push(claim);
  }

  /** The first reply that stated at least this offset, if it came before the event of that number. */
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

  /** An offset that the stream had certainly reached at a time; it lacks about the last second. */
  topBefore(time: number): number {
    for (let index = this.#tops.length - 1; index >= 0; index--) {
      const sample = this.#tops[index];
      if (sample !== undefined && sample.end <= time) return sample.top;
    }
    return 0;
  }
}

const sampleMicroseconds = 1_000_000;
