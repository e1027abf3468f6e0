import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type Socket } from "node:net";
import { buffer as bufferOf } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { WebSocket, WebSocketServer } from "ws";
import { listen } from "./listen.ts";

/** What a proxy does to what passes through it. */
export interface Meddling {
  /** It answers when the whole response is there, as with `proxy_buffering` and a stream that never ends. */
  readonly buffers?: boolean;
  /** It ends sockets on which nothing came for so many ms. */
  readonly idleMs?: number;
  /** It compresses responses and WebSockets. */
  readonly compresses?: boolean;
  /** It takes no larger body of a request, in bytes. */
  readonly bodyBytesMax?: number;
  /** It answers everything with 200 by itself. */
  readonly answersAll?: boolean;
}

/** A real proxy before a server, which does what real ones do. */
export class MeddlingProxy {
  /** Such as `http://127.0.0.1:8787`. */
  readonly address: string;
  /** How many of the open connections were upgraded. */
  upgraded = 0;
  readonly #server: Server;
  readonly #target: URL;
  readonly #meddling: Meddling;
  readonly #sockets = new Set<Socket>();
  readonly #terminal = new WebSocketServer({ noServer: true, perMessageDeflate: true });

  /** @param target the server's address */
  static async before(target: string, meddling: Meddling): Promise<MeddlingProxy> {
    const server = createServer();
    return new MeddlingProxy(server, await listen(server), new URL(target), meddling);
  }

  private constructor(server: Server, port: number, target: URL, meddling: Meddling) {
    this.address = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#target = target;
    this.#meddling = meddling;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", () => socket.destroy());
    });
    server.on("request", (asked, answer) => void this.#pass(asked, answer));
    server.on("upgrade", (asked, socket: Socket, head) => this.#upgrade(asked, socket, head));
  }

  /** How many connections of clients are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Ends everything at once, as a machine that dies. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { answersAll, bodyBytesMax = Infinity, buffers, compresses } = this.#meddling;
    const body = await bufferOf(asked);
    if (answersAll === true) {
      answer.end("<html>It works!</html>");
      return;
    }
    if (body.length > bodyBytesMax) {
      answer.writeHead(413).end("too large");
      return;
    }
    const { port, hostname } = this.#target;
    const passed = request(
      { port, hostname, path: asked.url, method: asked.method, headers: asked.headers },
      (response) => {
        const headers = { ...response.headers, via: "1.1 meddling" };
        // A buffer waits for the end.
        if (buffers === true || compresses === true)
          void bufferOf(response).then(
            (whole) => this.#answerWhole(answer, response.statusCode ?? 502, headers, whole),
            () => answer.destroy(),
          );
        else {
          answer.writeHead(response.statusCode ?? 502, headers);
          response.pipe(answer);
        }
      },
    );
    passed.on("error", () => answer.writeHead(502).end());
    answer.once("close", () => passed.destroy());
    passed.end(body);
  }

  #answerWhole(
    answer: ServerResponse,
    status: number,
    headers: IncomingMessage["headers"],
    whole: Buffer,
  ): void {
    const { "transfer-encoding": _, "content-length": __, ...others } = headers;
    if (this.#meddling.compresses !== true) answer.writeHead(status, others).end(whole);
    else answer.writeHead(status, { ...others, "content-encoding": "gzip" }).end(gzipSync(whole));
  }

  #upgrade(asked: IncomingMessage, socket: Socket, head: Buffer): void {
    this.upgraded++;
    socket.once("close", () => this.upgraded--);
    if (this.#meddling.compresses === true) this.#terminate(asked, socket, head);
    else this.#carry(asked, socket, head);
  }

  /** Speaks to both sides itself. */
  #terminate(asked: IncomingMessage, socket: Socket, head: Buffer): void {
    const { authorization, origin } = asked.headers;
    const inner = new WebSocket(`${this.#target.origin.replace("http", "ws")}${asked.url}`, {
      perMessageDeflate: false,
      headers: { ...(authorization && { authorization }), ...(origin && { origin }) },
    });
    inner.on("error", () => socket.destroy());
    inner.once("unexpected-response", (_, { statusCode = 502 }) => {
      socket.end(`HTTP/1.1 ${statusCode} Refused\r\nContent-Length: 0\r\n\r\n`);
    });
    inner.once("open", () =>
      this.#terminal.handleUpgrade(asked, socket, head, (outer) => {
        inner.on("message", (data: Buffer) => outer.send(data.toString()));
        outer.on("message", (data: Buffer) => inner.send(data.toString()));
        inner.once("close", () => outer.close());
        outer.once("close", () => inner.close());
      }),
    );
  }

  /** Carries bytes, and ends a socket that is idle. */
  #carry(asked: IncomingMessage, socket: Socket, head: Buffer): void {
    const { idleMs = 0, answersAll } = this.#meddling;
    if (answersAll === true) {
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const lines = [`${asked.method} ${asked.url} HTTP/1.1`];
    for (let at = 0; at < asked.rawHeaders.length; at += 2)
      lines.push(`${asked.rawHeaders[at]}: ${asked.rawHeaders[at + 1]}`);
    server.write(`${lines.join("\r\n")}\r\n\r\n`);
    server.write(head);
    socket.setTimeout(idleMs, () => socket.destroy());
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.once("close", () => other.destroy());
    }
  }
}
