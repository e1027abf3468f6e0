import { type ClientRequest, type IncomingMessage, request } from "node:http";

/** A client of an HTTP stream on a connection of its own, which can stop reading or disconnect. */
export class HttpStream {
  readonly #request: ClientRequest;
  readonly response: IncomingMessage;
  /** The received text. */
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
    // A cut connection is an error of the response; the kind of error doesn't matter.
    response.on("error", () => ended.resolve("cut"));
  }

  /** The text, once it satisfies the condition. */
  async until(found: (text: string) => boolean): Promise<string> {
    while (!found(this.text)) await this.#heard.promise;
    return this.text;
  }

  /** Lets data pile up in the system's buffers, and then on the server. */
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
