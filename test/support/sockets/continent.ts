import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listen } from "../servers/listen.ts";

/** The continents, as the platform's `cf` names them, and the gateway that the first client of each reaches. */
const firstGateways = {
  AF: "af/0",
  AN: "an/0",
  AS: "as/0",
  EU: "eu/0",
  NA: "na/0",
  OC: "oc/0",
  SA: "sa/0",
} as const;

export type Letters = keyof typeof firstGateways;

/**
 * An address at which a server's clients come from one continent. Each continent has a pool of gateways of its own, so
 * tests that are about a whole pool can share a server.
 */
export class Continent {
  /** Where clients connect, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  /** The gateway that clients reach there, as long as it isn't full. */
  readonly firstGateway: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** @param target the server's address */
  static async of(letters: Letters, target: string): Promise<Continent> {
    const server = createServer();
    return new Continent(letters, server, await listen(server), new URL(target));
  }

  private constructor(letters: Letters, server: Server, port: number, target: URL) {
    this.address = `http://127.0.0.1:${port}`;
    this.firstGateway = firstGateways[letters];
    this.#server = server;
    // The local runtime takes a request's `cf` from this header.
    const header = `MF-CF-Blob: ${JSON.stringify({ continent: letters })}\r\n`;
    server.on("connection", (client) => this.#carry(client, target, header));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Adds the header after the first line of the connection's only request. */
  #carry(client: Socket, target: URL, header: string): void {
    const server = connect(Number(target.port), target.hostname);
    client.once("data", (chunk: Buffer) => {
      const end = chunk.indexOf("\r\n") + 2;
      server.write(
        Buffer.concat([chunk.subarray(0, end), Buffer.from(header), chunk.subarray(end)]),
      );
      client.pipe(server);
    });
    server.pipe(client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
