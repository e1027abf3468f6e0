/** The answer to a POST. */
export interface Answer {
  readonly status: number;
  /** The beginning of the body, for a failure's message. */
  readonly text: string;
  /** Whether the connection can be used again. */
  readonly keptAlive: boolean;
}

type Stage = "status" | "header" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailer";

/**
 * Reads the answers on one HTTP connection with one request at a time, from chunks that end anywhere, with a
 * Content-Length or in the chunked encoding.
 */
export class AnswerReader {
  #stage: Stage = "status";
  /** The beginning of a line whose end hasn't arrived. */
  #line = "";
  #status = 0;
  #text = "";
  #keptAlive = true;
  #length: number | undefined;
  #chunked = false;
  /** Bytes left of the body, or of a chunk of it. */
  #left = 0;

  /**
   * Takes the next chunk.
   *
   * @returns the answer if it is complete now
   * @throws Error if the bytes aren't HTTP, or give no length
   */
  take(bytes: Buffer): Answer | undefined {
    let at = 0;
    while (at < bytes.length) {
      if (this.#stage === "body" || this.#stage === "chunk") {
        const stop = Math.min(bytes.length, at + this.#left);
        if (this.#text.length < shownLength) this.#text += bytes.toString("latin1", at, stop);
        this.#left -= stop - at;
        at = stop;
        if (this.#left > 0) return undefined;
        if (this.#stage === "body") return this.#complete(bytes.length - at);
        this.#stage = "chunk-end";
        continue;
      }
      const end = bytes.indexOf(lineFeed, at);
      this.#line += bytes.toString("latin1", at, end === -1 ? bytes.length : end);
      if (end === -1) return undefined;
      at = end + 1;
      const line = this.#line.trimEnd();
      this.#line = "";
      if (this.#takeLine(line)) return this.#complete(bytes.length - at);
    }
    return undefined;
  }

  /** @returns whether it was the last one of the answer */
  #takeLine(line: string): boolean {
    switch (this.#stage) {
      case "status":
        this.#beginAnswer(line);
        return false;
      case "header":
        if (line === "") return this.#endHead();
        this.#takeHeader(line.toLowerCase());
        return false;
      case "chunk-size":
        this.#left = Number.parseInt(line, 16);
        if (!(this.#left >= 0)) throw new Error("a chunk of an answer has no size");
        this.#stage = this.#left === 0 ? "trailer" : "chunk";
        return false;
      case "chunk-end":
        this.#stage = "chunk-size";
        return false;
      case "trailer":
        return line === "";
      // Neither state has lines.
      case "body":
      case "chunk":
        return false;
    }
  }

  #beginAnswer(line: string): void {
    const status = line.match(/^HTTP\/1\.1 (\d{3})/)?.[1];
    if (status === undefined) throw new Error(`not an answer of HTTP/1.1: ${line.slice(0, 100)}`);
    this.#status = Number(status);
    this.#text = "";
    this.#keptAlive = true;
    this.#length = undefined;
    this.#chunked = false;
    this.#stage = "header";
  }

  #takeHeader(line: string): void {
    if (line.startsWith("content-length:")) this.#length = Number(line.slice(15));
    else if (line.startsWith("transfer-encoding:")) this.#chunked = line.endsWith("chunked");
    else if (line.startsWith("connection:")) this.#keptAlive = !line.endsWith("close");
  }

  #endHead(): boolean {
    if (this.#status < 200) {
      this.#stage = "status";
      return false;
    }
    if (this.#chunked) {
      this.#stage = "chunk-size";
      return false;
    }
    if (this.#status === 204 || this.#length === 0) return true;
    if (this.#length === undefined) throw new Error("an answer says no length");
    this.#left = this.#length;
    this.#stage = "body";
    return false;
  }

  #complete(bytesAfter: number): Answer {
    if (bytesAfter > 0) throw new Error("an answer came that nothing was asked for");
    this.#stage = "status";
    return {
      status: this.#status,
      text: this.#text.slice(0, shownLength),
      keptAlive: this.#keptAlive,
    };
  }
}

const shownLength = 200;
const lineFeed = 0x0a;
