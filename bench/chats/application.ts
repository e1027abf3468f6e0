import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { pipeUIMessageStreamToResponse } from "ai";
import {
  type ChatBackend,
  type Chunk,
  streamToChannel,
  takeChatRequest,
} from "../../package/ai/index.ts";
import { Failures } from "./failures.ts";

/** An answer of 500 tokens in 10 seconds: five at once each 100 ms. */
const [pieces, pieceMs, piece] = [100, 100, " acorn".repeat(5)];

/** What an answer says when it is whole, and how long that takes. */
export const wholeAnswer = { text: piece.repeat(pieces), ownMs: pieces * pieceMs } as const;

/** The application that the pages ask: `/default` answers in the response, and `/dormouse` on the chat's channel. */
export class Application {
  readonly origin: string;
  /** Why producers have failed. */
  readonly failures = new Failures();
  /** Whether an answer has its 100 pieces now; otherwise there is one, at once. */
  isLong = false;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #backend: ChatBackend;
  readonly #periodMs: number;
  /** The answers that are being written, also after their pages have all of them. */
  readonly #producers = new Set<Promise<unknown>>();

  /** @param periodMs how often a producer writes */
  static async start(backend: ChatBackend, periodMs: number): Promise<Application> {
    const application = new Application(backend, periodMs);
    await once(application.#server, "listening");
    return application;
  }

  private constructor(backend: ChatBackend, periodMs: number) {
    this.#backend = backend;
    this.#periodMs = periodMs;
    this.#server.listen(0);
    const address: AddressInfo = Object(this.#server.address());
    this.origin = `http://127.0.0.1:${address.port}`;
  }

  /** Resolves when all producers are done. */
  async rested(): Promise<void> {
    await Promise.all(this.#producers);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: { readonly id: string } = JSON.parse(await text(request));
    if (request.url === "/default") {
      void pipeUIMessageStreamToResponse({ response, stream: this.#words() });
      return;
    }
    try {
      const channel = `chat:${body.id}`;
      const taken = await takeChatRequest(this.#backend, channel, body);
      response.writeHead(202).end();
      if (taken === undefined) return;
      const { answerId: messageId, begun } = taken;
      const options = { messageId, begun, periodMs: this.#periodMs };
      const written = streamToChannel(this.#backend, channel, this.#words(), options)
        .catch((error: unknown) => this.failures.note(error))
        .finally(() => this.#producers.delete(written));
      this.#producers.add(written);
    } catch (error) {
      this.failures.note(error);
      response.writeHead(500).end(String(error));
    }
  }

  #words(): ReadableStream<Chunk> {
    const chunks = chunksOfAnAnswer(this.isLong ? pieces : 1, this.isLong ? pieceMs : 0);
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
  }
}

async function* chunksOfAnAnswer(count: number, everyMs: number): AsyncGenerator<Chunk> {
  yield { type: "start" };
  yield { type: "text-start", id: "t" };
  for (let nth = 0; nth < count; nth++) {
    yield { type: "text-delta", id: "t", delta: piece };
    await pause(everyMs);
  }
  yield { type: "text-end", id: "t" };
  yield { type: "finish" };
}
