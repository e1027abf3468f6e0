import { type ClientRequest, type IncomingMessage, request } from "node:http";

/** A client that listens to an HTTP stream over a connection of its own, and can stop reading or hang up. */
export class HttpStream {
  readonly #request: ClientRequest;
  readonly response: IncomingMessage;
  /** What came. */
  text = "";
  /** Settled when the stream is over: with its proper end, or cut. */
  readonly ended: Promise<"end" | "cut">;
  #heard = Promise.withResolvers<void>();

  /** Posts a body and takes the response for a stream. */
  static post(address: string, body: string): Promise<HttpStream> {
    const opened = Promise.withResolvers<HttpStream>();
    const asked = request(address, { method: "POST", agent: false });
    asked.on("response", (response) => opened.resolve(new HttpStream(asked, response)));
    asked.on("error", (error) => opened.reject(error));
    asked.end(body);
    return opened.promise;
  }

  private constructor(asked: ClientRequest, response: IncomingMessage) {
    this.#request = asked;
    this.response = response;
    const ended = Promise.withResolvers<"end" | "cut">();
    this.ended = ended.promise;
    response.setEncoding("utf8");
    response.on("data", (piece: string) => {
      this.text += piece;
      this.#heard.resolve();
      this.#heard = Promise.withResolvers();
    });
    response.on("end", () => ended.resolve("end"));
    // A connection that is cut is an error of the response; which one doesn't matter.
    response.on("error", () => ended.resolve("cut"));
  }

  /** The text, once it contains what is looked for. */
  async until(found: (text: string) => boolean): Promise<string> {
    while (!found(this.text)) await this.#heard.promise;
    return this.text;
  }

  /** Lets what comes lie in the system's buffers, and then on the server. */
  stopReading(): void {
    this.response.pause();
  }

  readAgain(): void {
    this.response.resume();
  }

  /** Cuts the connection, as a page does that is closed. */
  hangUp(): void {
    this.#request.destroy();
  }
}
