import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isSigned } from "../../../support/servers/hook-server.ts";
import { listen } from "../../../support/servers/listen.ts";

/**
 * How a backend is out of order. failing: it answers every request with a status from 500 on, or 429. hanging: it takes
 * requests and answers none of them. gone: its process has ended, so that nothing listens on its port.
 */
export type Outage = "failing" | "hanging" | "gone";

/** A signed request, whole. */
export interface ReceivedRequest {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Answers a request; not called during an outage, of which {@link UnreliableServer} tells. */
export type Responder = (request: ReceivedRequest, response: ServerResponse) => void;

/** A backend's HTTP server on a port that stays the same, out of order for some time when that is wanted. */
export class UnreliableServer {
  /** Such as `http://127.0.0.1:8788`. */
  readonly address: string;
  /** Takes the requests; set before the first of them. */
  respond: Responder = (_request, response) => void response.writeHead(503).end();
  /** Told of each request that isn't answered because of an outage. */
  refused: (request: ReceivedRequest) => void = () => undefined;
  /** Whether requests have to be signed at the time at which they come. */
  checksSignatures = true;
  /** Failures that no server may cause, in sentences. */
  readonly failures: string[] = [];
  readonly #port: number;
  readonly #secret: string;
  #server: Server;
  #outage: Outage | undefined;
  #isClosed = false;

  /** @param secret signs the requests that the server gets */
  static async start(secret: string): Promise<UnreliableServer> {
    const server = createServer();
    return new UnreliableServer(server, await listen(server), secret);
  }

  private constructor(server: Server, port: number, secret: string) {
    this.#server = server;
    this.#port = port;
    this.#secret = secret;
    this.address = `http://127.0.0.1:${port}`;
    this.#serve(server);
  }

  /** Is out of order until the promise resolves. Does nothing, and gives false, while it already is. */
  async breakUntil(outage: Outage, over: Promise<unknown>): Promise<boolean> {
    if (this.#outage !== undefined || this.#isClosed) return false;
    this.#outage = outage;
    if (outage === "gone") await end(this.#server);
    await over;
    this.#outage = undefined;
    if (this.#isClosed) return true;
    if (outage === "gone") await this.#listenAgain();
    // What hangs is as lost as with a process that was killed.
    else if (outage === "hanging") this.#server.closeAllConnections();
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#server.listening) await end(this.#server);
  }

  async #listenAgain(): Promise<void> {
    this.#server = createServer();
    this.#serve(this.#server);
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  #serve(server: Server): void {
    server.on("request", (request, response) => {
      // The runtime that asks may be ended at any moment.
      request.on("error", () => undefined);
      response.on("error", () => undefined);
      void this.#take(request, response);
    });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { headers } = request;
    if (this.checksSignatures && !isSigned(headers, body, this.#secret))
      this.failures.push("a request wasn't signed");
    const received = { headers, body };
    switch (this.#outage) {
      case undefined:
        this.respond(received, response);
        break;
      case "failing":
        this.refused(received);
        fail(response);
        break;
      case "hanging":
      case "gone":
        this.refused(received);
    }
  }
}

/** One status of those that backends and proxies before them answer with when they are in trouble. */
function fail(response: ServerResponse): void {
  const status = statuses[failed++ % statuses.length] ?? 500;
  response.writeHead(status, status === 429 ? { "Retry-After": "1" } : {}).end("out of order");
}

async function end(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

const statuses = [500, 503, 502, 429] as const;
let failed = 0;
