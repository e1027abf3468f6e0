/**
 * Counts the lines in the payloads of one socket's frames, and tells those that are pings from the others: some systems
 * send several messages in a frame, one in a line, and a ping among them. Empty lines don't count.
 */
export class LineCounter {
  /** Lines that are no pings. */
  lines = 0;
  /** Lines that are pings. */
  pings = 0;
  readonly #ping: Buffer;
  /** How many bytes of the line have come, as long as they begin a ping; -1 when it is another line. */
  #matched = 0;

  /** @param ping the line that is a ping; empty for none */
  constructor(ping: Buffer) {
    this.#ping = ping;
  }

  /**
   * Takes the next chunk of a payload.
   *
   * @param bytes must hold a line feed at `end` or after, or no more bytes: otherwise the search for the next one is slow
   */
  take(bytes: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#matched === -1) {
        const found = bytes.indexOf(lineFeed, at);
        if (found === -1 || found >= end) return;
        this.endLine();
        at = found + 1;
      } else this.#match(bytes[at++] ?? 0);
    }
  }

  /** The payload ends, and with it its last line. */
  endLine(): void {
    if (this.#matched !== -1 && this.#matched === this.#ping.length) {
      if (this.#matched > 0) this.pings++;
    } else if (this.#matched !== 0) this.lines++;
    this.#matched = 0;
  }

  #match(byte: number): void {
    if (byte === lineFeed) this.endLine();
    else if (byte === this.#ping[this.#matched]) this.#matched++;
    else this.#matched = -1;
  }
}

const lineFeed = 0x0a;
