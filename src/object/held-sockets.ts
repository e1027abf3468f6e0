import type { PlatformSocket } from "./platform.ts";

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
