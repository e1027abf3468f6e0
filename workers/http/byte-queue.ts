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
