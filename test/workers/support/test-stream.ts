import { exports } from "cloudflare:workers";
import { address } from "./api-request.ts";

/** A client of an HTTP stream, byte for byte. Data waits until it is read. */
export class TestStream {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #bytes = new Uint8Array();

  /** Asks the Worker itself for a stream. */
  static async open(path: string, init: RequestInit = {}): Promise<TestStream> {
    return new TestStream(await exports.default.fetch(address(path), init));
  }

  /** Posts a request that isn't for a stream. */
  static post(path: string, body: BodyInit, type: string): Promise<Response> {
    const init = { method: "POST", headers: { "Content-Type": type }, body };
    return exports.default.fetch(address(path), init);
  }

  /** Takes the stream that a response is; throws when it is none. */
  constructor(response: Response) {
    if (response.status !== 200 || response.body === null) {
      throw new Error(`no stream: ${response.status}`);
    }
    this.response = response;
    this.#reader = response.body.getReader();
  }

  /** The text up to and with an end mark; rejects if the stream ends before. */
  async upTo(end: string): Promise<string> {
    for (;;) {
      const text = new TextDecoder().decode(this.#bytes);
      const found = text.indexOf(end);
      if (found >= 0) {
        const taken = text.slice(0, found + end.length);
        this.#bytes = this.#bytes.slice(new TextEncoder().encode(taken).byteLength);
        return taken;
      }
      if (!(await this.#more())) throw new Error(`the stream ended with ${JSON.stringify(text)}`);
    }
  }

  /** The reply of the next event. */
  async event(): Promise<string> {
    const event = await this.upTo("\n\n");
    if (!event.startsWith("data: ")) throw new Error(`no event: ${JSON.stringify(event)}`);
    return event.slice("data: ".length, -2);
  }

  /** The next reply of a stream of lines. */
  async line(): Promise<string> {
    return (await this.upTo("\n")).slice(0, -1);
  }

  /** As many bytes. */
  async take(count: number): Promise<Uint8Array> {
    while (this.#bytes.byteLength < count) {
      if (!(await this.#more())) throw new Error("the stream ended");
    }
    const taken = this.#bytes.slice(0, count);
    this.#bytes = this.#bytes.slice(count);
    return taken;
  }

  /** Everything that is still to come until the stream ends. */
  async rest(): Promise<string> {
    while (await this.#more());
    return new TextDecoder().decode(this.#bytes);
  }

  /** Gives the stream up, as a client does that goes away. */
  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    const bytes = new Uint8Array(this.#bytes.byteLength + value.byteLength);
    bytes.set(this.#bytes);
    bytes.set(value, this.#bytes.byteLength);
    this.#bytes = bytes;
    return true;
  }
}

/** A client's posted command (docs/protocol.md 4.3). */
export function emulate(session: string, node: string, data: string): Promise<Response> {
  return exports.default.fetch(address("/emulation"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ session, node, data }),
  });
}
