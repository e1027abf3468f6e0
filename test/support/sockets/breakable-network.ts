import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listen } from "../servers/listen.ts";

/** A network to a server that can break: all connections are cut without a close frame, and no new one is accepted. */
export class BreakableNetwork {
  /** Where clients connect, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #broken = false;

  /** @param target the server's address */
  static async to(target: string): Promise<BreakableNetwork> {
    const server = createServer();
    return new BreakableNetwork(server, await listen(server), new URL(target));
  }

  private constructor(server: Server, port: number, target: URL) {
    this.#server = server;
    this.address = `http://127.0.0.1:${port}`;
    server.on("connection", (client) => this.#carry(client, target));
  }

  break(): void {
    this.#broken = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#broken = false;
  }

  async close(): Promise<void> {
    this.break();
    this.#server.close();
    await once(this.#server, "close");
  }

  #carry(client: Socket, target: URL): void {
    if (this.#broken) {
      client.destroy();
      return;
    }
    const server = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.pipe(other);
      // The class cuts connections on purpose; only their end is reported.
      socket.on("error", () => other.destroy());
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
