import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listen } from "../../../support/servers/listen.ts";
import { Random } from "../../../support/random.ts";
import { FaultyNetwork } from "./faulty-network.ts";

/** One end of a connection in a test: the received text, and how the connection ended. */
export class TestSocket {
  readonly socket: Socket;
  /** Settled when the other end closed in order, or with an error. */
  readonly ended: Promise<"fin" | "reset">;
  received = "";

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => (this.received += text));
    this.ended = new Promise((resolve) => {
      socket.once("end", () => resolve("fin"));
      socket.once("error", () => resolve("reset"));
    });
  }

  /** Waits until so many bytes have arrived in all. */
  async bytes(count: number): Promise<string> {
    while (this.received.length < count) await once(this.socket, "data");
    return this.received;
  }
}

/** Clients and a server with a faulty network between them. */
export class ConnectedSockets {
  readonly network: FaultyNetwork;
  readonly clients: TestSocket[] = [];
  /** The server's side of each client's connection, in the same order. */
  readonly servers: TestSocket[] = [];
  readonly #server: Server;

  static async start(seed: number, count: number): Promise<ConnectedSockets> {
    const server = createServer({ allowHalfOpen: true });
    // A connection of which no test socket was made may end with a reset.
    server.on("connection", (socket) => socket.on("error", () => {}));
    const target = new URL(`http://127.0.0.1:${await listen(server)}`);
    const sockets = new ConnectedSockets(server, await FaultyNetwork.to(target, new Random(seed)));
    for (let index = 0; index < count; index++) await sockets.connect();
    return sockets;
  }

  private constructor(server: Server, network: FaultyNetwork) {
    this.#server = server;
    this.network = network;
  }

  async connect(): Promise<void> {
    const client = connect({
      port: Number(new URL(this.network.address).port),
      allowHalfOpen: true,
    });
    const [socket]: Socket[] = await once(this.#server, "connection");
    if (socket === undefined) throw new Error("no connection");
    const [c, s] = [new TestSocket(client), new TestSocket(socket)];
    this.clients.push(c);
    this.servers.push(s);
    c.socket.write("c");
    await s.bytes(1);
    s.socket.write("s");
    await c.bytes(1);
  }

  async close(): Promise<void> {
    await this.network.close();
    for (const { socket } of [...this.clients, ...this.servers]) socket.destroy();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, "close");
  }
}
