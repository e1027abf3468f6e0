import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { isSigned } from "./hook-server.ts";
import { Inbox } from "../inbox.ts";
import { listen } from "./listen.ts";

/** An event, as far as tests look into one. */
export interface ReceivedEvent {
  readonly object: string;
  readonly number: number;
  readonly type: string;
  readonly user?: string;
  readonly channel?: string;
  readonly code?: number;
  readonly data?: string;
}

/** A backend that is told of events over HTTP. It refuses a request when a test says so, and keeps the others. */
export class EventServer {
  readonly url: string;
  /** The events of the requests that it took, in their order, without repetitions. */
  readonly events = new Inbox<ReceivedEvent>();
  /** The status of the next answers, each for one; 204 after them. */
  readonly statuses: number[] = [];
  refused = 0;
  /** Requests without a right signature. */
  unsigned = 0;
  readonly #server: Server;
  readonly #last = new Map<string, number>();

  /** @param secret which has to sign the requests */
  static async start(secret: string): Promise<EventServer> {
    const server = createServer();
    return new EventServer(server, await listen(server), secret);
  }

  private constructor(server: Server, port: number, secret: string) {
    this.url = `http://127.0.0.1:${port}/events`;
    this.#server = server;
    server.on("request", (request, response) => {
      const status = this.statuses.shift() ?? 204;
      if (status === 204) void this.#take(request, secret);
      else this.refused++;
      request.resume().once("end", () => response.writeHead(status).end());
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(request: IncomingMessage, secret: string): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
    if (!isSigned(request.headers, text, secret)) this.unsigned++;
    const { events }: { readonly events: readonly ReceivedEvent[] } = JSON.parse(text);
    for (const event of events) {
      if (event.number <= (this.#last.get(event.object) ?? 0)) continue;
      this.#last.set(event.object, event.number);
      this.events.push(event);
    }
  }
}
