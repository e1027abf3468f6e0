import { limits } from "../../src/limits.ts";

/**
 * Bytes that wait in the order in which they came. Small pieces are put together: each by itself would take ten times the
 * memory that it is counted for.
 */
export class ByteQueue {
  /** Full, but for what is in the last one. */
  readonly #blocks: Uint8Array[] = [];
  /** Still being filled; undefined when there is none. */
  #open: Uint8Array | undefined;
  #openBytes = 0;
  #bytes = 0;

  /** How many wait. */
  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.byteLength;
    if (this.#open === undefined || this.#openBytes + piece.byteLength > this.#open.byteLength) {
      this.#closeBlock();
      // What waits alone mostly doesn't wait long, and what is large needs no company.
      if (this.#blocks.length === 0 || piece.byteLength >= blockBytes) {
        this.#blocks.push(piece);
        return;
      }
      this.#open = new Uint8Array(blockBytes);
    }
    this.#open.set(piece, this.#openBytes);
    this.#openBytes += piece.byteLength;
  }

  /** Takes some from the front; undefined when none wait. */
  take(): Uint8Array | undefined {
    if (this.#blocks.length === 0) this.#closeBlock();
    const block = this.#blocks.shift();
    this.#bytes -= block?.byteLength ?? 0;
    return block;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#open = undefined;
    this.#openBytes = 0;
    this.#bytes = 0;
  }

  #closeBlock(): void {
    if (this.#open !== undefined) this.#blocks.push(this.#open.subarray(0, this.#openBytes));
    this.#open = undefined;
    this.#openBytes = 0;
  }
}

const blockBytes = 4_096;

/** What holds bytes for a reader. */
interface BufferedStream {
  readonly waitingBytes: number;
}

/**
 * How much the streams of one isolate may hold together for readers that don't take it (rules B3 and T3). The runtime may throw
 * a request away without a word, so nothing here keeps a holder alive or relies on being told of its end. No stream may touch
 * another request's, so each asks for its own share when it gets something.
 */
export class StreamBudget {
  readonly #streams = new Set<WeakRef<BufferedStream>>();
  /** At least what they hold: what was read since they were counted isn't taken off. */
  #bytes = 0;
  #nonEmpty = 0;
  #recountAt = recountMin;

  register(stream: BufferedStream): void {
    this.#streams.add(new WeakRef(stream));
    if (this.#streams.size >= this.#recountAt) this.#count();
  }

  /** One of them holds so many bytes more. */
  added(bytes: number): void {
    this.#bytes += bytes;
  }

  /** What each may hold; Infinity while together they don't hold much. */
  get shareBytes(): number {
    if (this.#bytes <= limits.streamsBytesMax) return Number.POSITIVE_INFINITY;
    this.#count();
    if (this.#bytes <= limits.streamsBytesMax) return Number.POSITIVE_INFINITY;
    return limits.streamsBytesMax / this.#nonEmpty;
  }

  /** Also forgets those that are gone. */
  #count(): void {
    this.#bytes = 0;
    this.#nonEmpty = 0;
    for (const reference of this.#streams) {
      const bytes = reference.deref()?.waitingBytes;
      if (bytes === undefined) this.#streams.delete(reference);
      else if (bytes > 0) {
        this.#bytes += bytes;
        this.#nonEmpty++;
      }
    }
    this.#recountAt = Math.max(recountMin, this.#streams.size * 2);
  }
}

/** So few aren't worth counting to forget some. */
const recountMin = 64;
