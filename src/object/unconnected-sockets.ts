import { limits } from "../limits.ts";
import type { PlatformSocket } from "./platform.ts";

/**
 * The sockets of one object whose client brought no token with its upgrade and hasn't connected since, with the addresses
 * of the clients, and the bounds on them (rule B13). The runtime assembles the messages of each socket before the object
 * sees them, so each may hold 32 MiB that anybody can send. A socket that the object has closed counts until it is gone:
 * the runtime goes on reading from it.
 */
export class UnconnectedSockets<Socket> {
  readonly #hasConnected: (socket: Socket) => boolean;
  readonly #addresses = new Map<Socket, string>();
  readonly #counts = new Map<string, number>();

  /** @param hasConnected whether the client of a socket that was added has connected since */
  constructor(hasConnected: (socket: Socket) => boolean) {
    this.#hasConnected = hasConnected;
  }

  /** @param address of the socket's client; "" if it isn't known */
  register(socket: Socket, address: string): void {
    this.#addresses.set(socket, address);
    this.#counts.set(address, this.#count(address) + 1);
  }

  /** The sockets, oldest first; those included that have connected since or were closed. */
  all(): Iterable<Socket> {
    return this.#addresses.keys();
  }

  /** The client of a socket has connected, or the socket is gone. Other sockets are ignored. */
  delete(socket: Socket): void {
    const address = this.#addresses.get(socket);
    if (address === undefined) return;
    this.#addresses.delete(socket);
    const count = this.#count(address) - 1;
    if (count > 0) this.#counts.set(address, count);
    else this.#counts.delete(address);
  }

  /**
   * Whether the object may take one more.
   *
   * @param address of its client; "" if it isn't known, and then only all together are bounded
   */
  room(address: string): "room" | "full" | "too-many-of-address" {
    const found = this.#room(address);
    if (found === "room") return found;
    for (const socket of this.#addresses.keys())
      if (this.#hasConnected(socket)) this.delete(socket);
    return this.#room(address);
  }

  #room(address: string): ReturnType<UnconnectedSockets<Socket>["room"]> {
    if (address !== "" && this.#count(address) >= limits.unconnectedPerAddressMax)
      return "too-many-of-address";
    return this.#addresses.size >= limits.unconnectedMax ? "full" : "room";
  }

  #count(address: string): number {
    return this.#counts.get(address) ?? 0;
  }
}

/**
 * The sockets of one object that have ended, and that the runtime still holds with their descriptors and bytes. They are
 * no connections any more, but count as sockets (rules B5 and B15).
 */
export class HeldSockets {
  /** Those whose answered close may wait behind bytes that the client doesn't read. */
  readonly #closed = new Set<Pick<PlatformSocket, "bufferedAmount">>();
  #failed = 0;

  /** The client's close was answered. */
  closed(socket: Pick<PlatformSocket, "bufferedAmount">): void {
    if (isHeld(socket)) this.#closed.add(socket);
  }

  /**
   * The client broke the WebSocket protocol. The runtime holds such a socket until the object is discarded, and nothing
   * that the object calls changes that.
   */
  failed(): void {
    this.#failed++;
  }

  /** Whether they are fewer than that. */
  leaveRoom(max: number): boolean {
    if (this.#count() < max) return true;
    for (const socket of this.#closed) if (!isHeld(socket)) this.#closed.delete(socket);
    return this.#count() < max;
  }

  #count(): number {
    return this.#closed.size + this.#failed;
  }
}

function isHeld({ bufferedAmount }: Pick<PlatformSocket, "bufferedAmount">): boolean {
  return bufferedAmount !== undefined && bufferedAmount > 0;
}
