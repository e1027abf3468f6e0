/**
 * A response's body that is written as things happen, however slowly its reader takes it. Like `ReadableStream`, but what
 * waits can be counted and thrown away.
 */
export class BoundedBody {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #waiting: Uint8Array[] = [];
  /** Undefined once nothing more goes in. */
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #ending = false;
  #waitingBytes = 0;

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
    this.readable = new ReadableStream<Uint8Array>(source);
  }

  /** Bytes that wait, besides what the runtime is handing on already. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Adds to what is to be read. After the end nothing happens. */
  write(bytes: Uint8Array): void {
    if (this.#controller === undefined || this.#ending) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
    if ((this.#controller.desiredSize ?? 0) > 0) this.#pass();
  }

  /** Throws away what waits. */
  clear(): void {
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }

  /** Ends the body once all of it is read. */
  end(): void {
    this.#ending = true;
    if (this.#waiting.length === 0) this.#close();
  }

  /** Hands the next piece to the runtime. */
  #pass(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#waitingBytes -= next.byteLength;
      this.#controller?.enqueue(next);
    }
    if (this.#ending && this.#waiting.length === 0) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
