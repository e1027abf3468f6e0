import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { Random } from "../../../support/random.ts";
import { CarriedConnection, type Surroundings } from "./carried-connection.ts";
import { type Delay, NetworkDelay } from "./network-delay.ts";
import { LostReplies } from "./lost-replies.ts";

/**
 * A TCP proxy that injects network faults on demand. A share is a share of the healthy connections, from 0 to 1: they
 * are chosen at random, at least one if there is any, and the method returns how many were hit.
 */
export class FaultyNetwork {
  /** The address for clients, such as `http://127.0.0.1:8787`. */
  readonly address: string;
  readonly #server: Server;
  readonly #random: Random;
  readonly #surroundings: Surroundings;
  /** In the order of their arrival, so that the same seed chooses the same ones. */
  readonly #connections = new Set<CarriedConnection>();
  /** On the clock of `performance.now()`. */
  #droppedUntil = 0;
  /** How many connections were refused so far. */
  refused = 0;

  /**
   * @param target the server's address; an `https:` address is reached over TLS
   * @param random decides which connections are hit, and how late bytes are
   * @param port where to listen; by default the system chooses
   */
  static async to(target: URL, random: Random, port = 0): Promise<FaultyNetwork> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.listen({ host: "127.0.0.1", port, backlog: 4096 });
    await once(server, "listening");
    return new FaultyNetwork(server, target, random);
  }

  private constructor(server: Server, target: URL, random: Random) {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("not a TCP server");
    this.address = `http://127.0.0.1:${address.port}`;
    this.#server = server;
    this.#random = random;
    // A generator of its own: the number of chunks must not change which connections are chosen.
    const delay = new NetworkDelay(new Random(random.between(0, 2 ** 31)));
    this.#surroundings = { target, delay, lostReplies: new LostReplies() };
    server.on("connection", (client) => this.#carry(client));
  }

  /** How many connections are carried now, with both ends connected and no fault but a delay or a stall. */
  get connections(): number {
    return this.#with("healthy").length;
  }

  /** How many answers `loseAnswer` has lost so far. */
  get repliesLost(): number {
    return this.#surroundings.lostReplies.count;
  }

  /** Ends both ends of some connections, in order or with RST. Bytes in transit are lost. */
  cut(share: number, how: "fin" | "reset"): number {
    return this.#hit(share, (connection) =>
      how === "fin" ? connection.finish() : connection.reset(),
    );
  }

  /** Carries nothing on some connections any more, and tells neither end, until `bury`. */
  vanish(share: number): number {
    return this.#hit(share, (connection) => connection.vanish());
  }

  /** Drops what the server sends on some connections, until `bury`. */
  silenceDown(share: number): number {
    return this.#hit(share, (connection) => connection.silenceDown());
  }

  /** Drops what the client sends on some connections, until `bury`. */
  silenceUp(share: number): number {
    return this.#hit(share, (connection) => connection.silenceUp());
  }

  /** Resets all lost connections that still have an open end. */
  bury(): number {
    const lost = this.#with("lost");
    for (const connection of lost) connection.reset();
    return lost.length;
  }

  /** Doesn't read from the server on some connections for so long, and then goes on without a loss. */
  stall(share: number, ms: number): number {
    return this.#hit(share, (connection) => connection.stall(ms));
  }

  /**
   * For so long, resets new connections; resets all present ones at once, except the lost ones, which stay silent until
   * `bury`.
   */
  drop(ms: number): number {
    this.#droppedUntil = Math.max(this.#droppedUntil, performance.now() + ms);
    const dropped = [...this.#connections].filter(({ standing }) => standing !== "lost");
    for (const connection of dropped) connection.reset();
    return dropped.length;
  }

  /** Makes all bytes of all connections late for a while, present and new ones, in their order and without a loss. */
  delay(delay: Delay): number {
    this.#surroundings.delay.begin(delay);
    return this.connections;
  }

  /**
   * Loses the next answer to a request that comes after this call: the server has the request, and the client gets a
   * reset and nothing of the answer. For connections with one request at a time.
   */
  loseAnswer(): void {
    this.#surroundings.lostReplies.loseNext();
  }

  /** Resets all connections and stops listening. */
  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    const connections = [...this.#connections];
    for (const connection of connections) connection.reset();
    await Promise.all(connections.map(({ released }) => released));
    await closed;
  }

  #carry(client: Socket): void {
    if (performance.now() < this.#droppedUntil || !this.#server.listening) {
      this.refused++;
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const connection = new CarriedConnection(client, this.#surroundings);
    this.#connections.add(connection);
    void this.#forgetReleased(connection);
  }

  async #forgetReleased(connection: CarriedConnection): Promise<void> {
    await connection.released;
    this.#connections.delete(connection);
  }

  #with(standing: CarriedConnection["standing"]): CarriedConnection[] {
    return [...this.#connections].filter((connection) => connection.standing === standing);
  }

  #hit(share: number, strike: (connection: CarriedConnection) => void): number {
    const healthy = this.#with("healthy");
    const count = Math.min(healthy.length, Math.max(1, Math.round(share * healthy.length)));
    for (let hit = 0; hit < count; hit++) {
      const [connection] = healthy.splice(this.#random.between(0, healthy.length - 1), 1);
      if (connection !== undefined) strike(connection);
    }
    return count;
  }
}
