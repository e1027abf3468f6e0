import { performance } from "node:perf_hooks";

/** A unit that one end sends to the other: bytes, or the way in which it ended. */
export type Parcel = Buffer | "fin" | "reset";

interface Waiting {
  readonly parcel: Parcel;
  /** On the clock of `performance.now()`. */
  readonly due: number;
}

/** Parcels in transit that are delivered late, in the order in which they came. */
export class DelayLine {
  /** The bytes of the parcels that wait. */
  bytes = 0;
  readonly #deliver: (parcel: Parcel) => void;
  #waiting: Waiting[] = [];
  #first = 0;
  #lastDue = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (parcel: Parcel) => void) {
    this.#deliver = deliver;
  }

  /** Whether nothing is in transit. */
  get empty(): boolean {
    return this.#first === this.#waiting.length;
  }

  /** Adds a parcel; it isn't delivered before an earlier one. */
  push(parcel: Parcel, lateMs: number): void {
    this.#lastDue = Math.max(this.#lastDue, performance.now() + lateMs);
    this.#waiting.push({ parcel, due: this.#lastDue });
    this.bytes += sizeOf(parcel);
    if (this.#timer === undefined) this.#wait();
  }

  /** Drops everything in transit. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
    this.#first = 0;
    this.bytes = 0;
  }

  #wait(): void {
    const first = this.#waiting[this.#first];
    if (first === undefined) {
      this.clear();
      return;
    }
    const ms = Math.max(0, Math.ceil(first.due - performance.now()));
    this.#timer = setTimeout(() => this.#deliverDue(), ms);
  }

  #deliverDue(): void {
    const now = performance.now();
    // A delivery may clear the line, so the state is read anew each time.
    for (;;) {
      const first = this.#waiting[this.#first];
      if (first === undefined || first.due > now) break;
      this.#first++;
      this.bytes -= sizeOf(first.parcel);
      this.#deliver(first.parcel);
    }
    if (this.#first > leastToForget) {
      this.#waiting.splice(0, this.#first);
      this.#first = 0;
    }
    this.#wait();
  }
}

/** From so many delivered parcels on, removing them is worth moving the rest. */
const leastToForget = 1024;

function sizeOf(parcel: Parcel): number {
  return typeof parcel === "string" ? 0 : parcel.length;
}
