import { ByteQueue } from "./byte-queue.ts";

/**
 * A response's body that is written as things happen, however slowly its reader takes it. Like `ReadableStream`, but what
 * waits can be counted and thrown away.
 */
export class BoundedBody {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #waiting = new ByteQueue();
  /** Undefined once nothing more goes in. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #ending = false;
  #awaited = false;

  /** @param cancelled is called when the reader has given up */
  constructor(cancelled: () => void) {
    const source: UnderlyingSource<Uint8Array> = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pass(),
      cancel: () => {
        this.#controller = undefined;
        cancelled();
      },
    };
    // Nothing is handed over before it is asked for: it couldn't be thrown away any more.
    this.readable = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
  }

  /** Whether the reader has taken everything and waits for more. */
  get awaited(): boolean {
    return this.#awaited;
  }

  /** Bytes that wait, besides what the runtime is handing on already. */
  get waitingBytes(): number {
    return this.#waiting.bytes;
  }

  /** Adds to what is to be read. After the end nothing happens. */
  write(bytes: Uint8Array): void {
    if (this.#controller === undefined || this.#ending) return;
    this.#waiting.add(bytes);
    if (this.#awaited) this.#pass();
  }

  /** Throws away what waits. */
  clear(): void {
    this.#waiting.clear();
  }

  /** Ends the body once all of it is read. */
  end(): void {
    this.#ending = true;
    if (this.#waiting.bytes === 0) this.#close();
  }

  /** Hands the next piece to the runtime. */
  #pass(): void {
    const next = this.#waiting.take();
    this.#awaited = next === undefined;
    if (next !== undefined) this.#controller?.enqueue(next);
    if (this.#ending && this.#waiting.bytes === 0) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
