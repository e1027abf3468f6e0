import { connect, type Socket } from "node:net";
import type { Endpoint } from "../systems/server.ts";
import { AnswerReader } from "./answer-reader.ts";
import { receivable, receiveBuffer } from "./receive-buffer.ts";
import type { FailureSignal } from "./failure-signal.ts";

/** A backend's connection, with one post at a time. */
export class PostConnection {
  /** Resolves when it is connected. */
  static async open(endpoint: Endpoint, failure: FailureSignal): Promise<PostConnection> {
    const connection = new PostConnection(endpoint, failure);
    await new Promise<void>((resolve) => connection.#socket.once("connect", () => resolve()));
    return connection;
  }

  readonly #socket: Socket;
  readonly #failure: FailureSignal;
  readonly #reader = new AnswerReader();
  #answered: (() => void) | undefined;
  #ended = false;
  #idleSinceMs = performance.now();

  private constructor({ host, port }: Endpoint, failure: FailureSignal) {
    this.#failure = failure;
    this.#socket = connect({
      port,
      host,
      noDelay: true,
      onread: { buffer: receivable, callback: (length) => this.#read(length) },
    });
    this.#socket.on("error", ({ message }) => this.#end(message));
    this.#socket.once("close", () => this.#end("it was closed"));
  }

  /** Servers close connections that were idle for some seconds, so a connection that may just be closing isn't used. */
  get usable(): boolean {
    return !this.#ended && performance.now() - this.#idleSinceMs < keptIdleMs;
  }

  /** Posts while no other post is in progress. Any status but 200 is a failure. */
  post(request: Buffer, answered: () => void): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  end(): void {
    this.#answered = undefined;
    this.#ended = true;
    this.#socket.destroy();
  }

  #read(length: number): true {
    try {
      const answer = this.#reader.take(receiveBuffer.subarray(0, length));
      if (answer === undefined) return true;
      // Some systems report an error in the body of a 200.
      if (answer.status !== 200 || answer.text.includes('"error":'))
        throw new Error(`a post was answered ${answer.status} ${answer.text}`);
      if (!answer.keptAlive) this.#ended = true;
      this.#idleSinceMs = performance.now();
      const answered = this.#answered;
      this.#answered = undefined;
      answered?.();
    } catch (error) {
      this.#failure.raise(String(error));
    }
    return true;
  }

  #end(why: string): void {
    // A close while no post is in progress is no failure, except before the connection was established.
    if (this.#answered !== undefined || this.#socket.connecting)
      this.#failure.raise(`a post wasn't answered: ${why}`);
    this.#ended = true;
  }
}

/** Node.js closes after 5 s, and so does workerd. */
const keptIdleMs = 3000;
