import { limits } from "../../src/limits.ts";

/** What holds bytes for a reader. */
interface Holder {
  readonly waitingBytes: number;
}

/**
 * How much the streams of one isolate may hold together for readers that don't take it (rules B3 and T3). The runtime may throw
 * a request away without a word, so nothing here keeps a holder alive or relies on being told of its end. No stream may touch
 * another request's, so each asks for its own share when it gets something.
 */
export class StreamRoom {
  readonly #holders = new Set<WeakRef<Holder>>();
  /** At least what they hold: what was read since they were counted isn't taken off. */
  #bytes = 0;
  #holding = 0;
  #countedAnewAt = holdersMin;

  enter(holder: Holder): void {
    this.#holders.add(new WeakRef(holder));
    if (this.#holders.size >= this.#countedAnewAt) this.#count();
  }

  /** One of them holds so many bytes more. */
  took(bytes: number): void {
    this.#bytes += bytes;
  }

  /** What each may hold; Infinity while together they don't hold much. */
  get shareBytes(): number {
    if (this.#bytes <= limits.streamsBytesMax) return Number.POSITIVE_INFINITY;
    this.#count();
    if (this.#bytes <= limits.streamsBytesMax) return Number.POSITIVE_INFINITY;
    return limits.streamsBytesMax / this.#holding;
  }

  /** Also forgets those that are gone. */
  #count(): void {
    this.#bytes = 0;
    this.#holding = 0;
    for (const reference of this.#holders) {
      const bytes = reference.deref()?.waitingBytes;
      if (bytes === undefined) this.#holders.delete(reference);
      else if (bytes > 0) {
        this.#bytes += bytes;
        this.#holding++;
      }
    }
    this.#countedAnewAt = Math.max(holdersMin, this.#holders.size * 2);
  }
}

/** So few aren't worth counting to forget some. */
const holdersMin = 64;
