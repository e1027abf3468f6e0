import type { PublicationRecord } from "./publication-record.ts";

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
