/**
 * The memory for bytes that wait for the readers of HTTP streams: a queue for each stream, and a budget for all streams
 * of an isolate (rules B3 and T3).
 */
import { limits } from "../../src/limits.ts";

/**
 * A queue of bytes. Small pieces are joined into blocks, because a small piece by itself takes ten times the memory
 * that it is counted for.
 */
export class ByteQueue {
  /** The blocks and large pieces that are ready to be taken. */
  readonly #blocks: Uint8Array[] = [];
  /** The block that is being filled; undefined if there is none. */
  #open: Uint8Array | undefined;
  #openBytes = 0;
  #bytes = 0;

  /** The number of bytes in the queue. */
  get bytes(): number {
    return this.#bytes;
  }

  append(piece: Uint8Array): void {
    this.#bytes += piece.byteLength;
    if (this.#open === undefined || this.#openBytes + piece.byteLength > this.#open.byteLength) {
      this.#closeBlock();
      // A piece that waits alone usually doesn't wait long, and a large piece needs no block.
      if (this.#blocks.length === 0 || piece.byteLength >= blockBytes) {
        this.#blocks.push(piece);
        return;
      }
      this.#open = new Uint8Array(blockBytes);
    }
    this.#open.set(piece, this.#openBytes);
    this.#openBytes += piece.byteLength;
  }

  /** Takes a block from the front; undefined if the queue is empty. */
  shift(): Uint8Array | undefined {
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

/** A stream with bytes that wait for its reader. */
interface BufferedStream {
  readonly waitingBytes: number;
}

/**
 * The memory that all streams of one isolate may take together for readers that don't read (rules B3 and T3). The
 * runtime may drop a request without a notice. So the budget neither keeps a stream alive nor relies on a call at its
 * end. No request may do I/O of another one. So each stream asks for its share when it gets bytes.
 */
export class StreamBudget {
  readonly #streams = new Set<WeakRef<BufferedStream>>();
  /** An upper bound of the waiting bytes: bytes that were read since the last count aren't subtracted. */
  #bytes = 0;
  #nonEmpty = 0;
  #recountAt = recountMin;

  register(stream: BufferedStream): void {
    this.#streams.add(new WeakRef(stream));
    if (this.#streams.size >= this.#recountAt) this.#count();
  }

  /** Counts bytes that one of the streams has added. */
  added(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The bytes that each stream may hold; Infinity while the streams together are within the limit. */
  get shareBytes(): number {
    if (this.#bytes <= limits.streamsBytesMax) return Number.POSITIVE_INFINITY;
    this.#count();
    if (this.#bytes <= limits.streamsBytesMax) return Number.POSITIVE_INFINITY;
    return limits.streamsBytesMax / this.#nonEmpty;
  }

  /** Counts again, and forgets streams that are gone. */
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

/** With fewer streams, a count that forgets some isn't worth its time. */
const recountMin = 64;
