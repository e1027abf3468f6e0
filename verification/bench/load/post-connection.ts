import { connect, type Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import { receivable, receiveBuffer } from "./receive-buffer.ts";
import type { FailureSignal } from "./failure-signal.ts";

/** A connection of a backend that posts one thing after the other. */
export class PostConnection {
  /** Resolves when it is connected. */
  static async open(port: number, failure: FailureSignal): Promise<PostConnection> {
    const connection = new PostConnection(port, failure);
    await new Promise<void>((resolve) => connection.#socket.once("connect", () => resolve()));
    return connection;
  }

  readonly #socket: Socket;
  readonly #failure: FailureSignal;
  readonly #reader = new AnswerReader();
  #answered: (() => void) | undefined;
  #ended = false;
  #idleSinceMs = performance.now();

  private constructor(port: number, failure: FailureSignal) {
    this.#failure = failure;
    this.#socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer: receivable, callback: (length) => this.#read(length) },
    });
    this.#socket.on("error", ({ message }) => this.#end(message));
    this.#socket.once("close", () => this.#end("it was closed"));
  }

  /** Servers close connections that weren't used for some seconds: one that might just be closed is better not used. */
  get usable(): boolean {
    return !this.#ended && performance.now() - this.#idleSinceMs < keptIdleMs;
  }

  /** Posts while nothing else is out. Anything but a 200 is trouble. */
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
      // Some systems say what went wrong in an answer that is all right otherwise.
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
    // Nobody minds an end while nothing is out, except before it was even there.
    if (this.#answered !== undefined || this.#socket.connecting)
      this.#failure.raise(`a post wasn't answered: ${why}`);
    this.#ended = true;
  }
}

/** Node closes after 5 s, and so does workerd. */
const keptIdleMs = 3000;
