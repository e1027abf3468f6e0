import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { FrameDivider } from "./frames.ts";
import { testLimits } from "./test-limits.ts";

/**
 * A network between clients and the server, which can be slow, lose frames, and break. What it does to one connection, it does
 * to all of its connections.
 */
export class Network {
  /** Where clients connect, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  /** How much later everything arrives, in both directions. */
  lateMs = 0;
  readonly #server: Server;
  readonly #target: () => URL;
  readonly #connections = new Set<Connection>();
  #framesToLose = 0;

  /** @param target gives the server's address, which a deploy may change */
  static async to(target: () => URL, port = 0): Promise<Network> {
    const server = createServer({ noDelay: true });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return new Network(server, target);
  }

  private constructor(server: Server, target: () => URL) {
    this.#server = server;
    this.#target = target;
    this.address = `http://127.0.0.1:${portOf(server.address())}`;
    server.on("connection", (client) => this.#carry(client));
  }

  /** Loses the next frames with messages that the server sends; pings don't count. */
  lose(frames: number): void {
    this.#framesToLose = frames;
  }

  /** Ends all connections without a close frame, as when a device changes its network. Resolves when they have ended. */
  async cut(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.cut()));
  }

  /**
   * Waits until the clients that are connecting are connected, and until all have answered the server's pings: each at most
   * for a second, and never again if it doesn't.
   */
  async answered(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.answered()));
  }

  async close(): Promise<void> {
    await this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #carry(client: Socket): void {
    const connection = new Connection(client, this.#target(), {
      lateMs: () => this.lateMs,
      loses: () => this.#framesToLose > 0 && this.#framesToLose-- > 0,
    });
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
  }
}

/** Whether a client whose first message is this one may answer pings: a connect reply in JSON says so (docs/keepalive.md). */
function mayAnswerPings(message: Buffer): boolean {
  const text = message.toString("latin1");
  return !text.includes('"connect":{') || text.includes('"pong":true');
}

/** What a network does to what it carries. */
interface Weather {
  readonly lateMs: () => number;
  /** Whether the next message is lost. */
  readonly loses: () => boolean;
}

/** One client's connection. */
class Connection {
  readonly ended: Promise<void>;
  readonly #client: Socket;
  readonly #weather: Weather;
  readonly #frames = new FrameDivider();
  readonly #toClient: Lane;
  readonly #toServer: Lane;
  /** Resolves with the first message of the server: time that leaps before it would let the server drop the client. */
  readonly #opened = Promise.withResolvers<void>();
  /** Also while nothing is known; a wait that is in vain ends it. */
  #answersPings = true;
  #isGreeted = false;
  #awaited: PromiseWithResolvers<void> | undefined;

  constructor(client: Socket, target: URL, weather: Weather) {
    const server = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    this.#client = client;
    this.#weather = weather;
    this.#toClient = new Lane(client);
    this.#toServer = new Lane(server);
    server.on("data", (bytes: Buffer) => this.#fromServer(bytes));
    client.on("data", (bytes: Buffer) => this.#fromClient(bytes));
    for (const [socket, lane] of [
      [client, this.#toServer],
      [server, this.#toClient],
    ] as const) {
      socket.on("end", () => lane.end(weather.lateMs()));
      // A connection may be cut at any time; that it has ended is all that matters.
      socket.on("error", () => lane.destroy());
      socket.once("close", () => lane.destroy());
    }
    this.ended = new Promise((resolve) => {
      client.once("close", () => {
        this.#awaited?.resolve();
        this.#opened.resolve();
        resolve();
      });
    });
  }

  async cut(): Promise<void> {
    this.#client.destroy();
    await this.ended;
  }

  async answered(): Promise<void> {
    const opening = setTimeout(() => this.#opened.resolve(), testLimits.pongMs);
    await this.#opened.promise;
    clearTimeout(opening);
    if (this.#awaited === undefined || !this.#answersPings) return;
    const timer = setTimeout(() => {
      this.#answersPings = false;
      this.#awaited?.resolve();
    }, testLimits.pongMs);
    await this.#awaited.promise;
    clearTimeout(timer);
  }

  #fromServer(bytes: Buffer): void {
    for (const piece of this.#frames.take(bytes)) {
      if (piece.kind !== "other" || this.#frames.isPlain) this.#opened.resolve();
      if (piece.kind === "message" && !this.#isGreeted) {
        this.#isGreeted = true;
        this.#answersPings = mayAnswerPings(piece.bytes);
      }
      if (piece.kind === "message" && this.#weather.loses()) continue;
      if (piece.kind === "ping") this.#awaited ??= Promise.withResolvers();
      this.#toClient.send(piece.bytes, this.#weather.lateMs());
    }
  }

  #fromClient(bytes: Buffer): void {
    this.#toServer.send(bytes, this.#weather.lateMs());
    this.#awaited?.resolve();
    this.#awaited = undefined;
  }
}

/** One direction, which keeps the order also when the network gets faster. */
class Lane {
  readonly #socket: Socket;
  #lastAtMs = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(bytes: Buffer, lateMs: number): void {
    this.#after(lateMs, () => {
      if (!this.#socket.destroyed) this.#socket.write(bytes);
    });
  }

  end(lateMs: number): void {
    this.#after(lateMs, () => this.#socket.end());
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #after(lateMs: number, work: () => void): void {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs + lateMs, this.#lastAtMs);
    if (atMs <= nowMs && this.#waiting.length === 0) return work();
    this.#lastAtMs = atMs;
    // Timers of different lengths that end together ring in any order, so each does what is first.
    this.#waiting.push(work);
    setTimeout(() => this.#waiting.shift()?.(), atMs - nowMs);
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string")
    throw new Error("the network listens on no port");
  return address.port;
}
