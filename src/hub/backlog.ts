import { limits } from "../limits.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";

/** A socket, as far as its backlog goes. */
export interface BackloggedSocket {
  /** Bytes handed to it that the peer has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
}

/**
 * Whether all of an object's sockets together hold more than memory bears, where they have many channels and no single hub
 * sees them all (rule B3). While they do the object takes nothing, so healthy readers catch up; whoever is still behind its
 * share after `limits.overloadMsMax` is cut.
 */
export class Backlog {
  #bytes = 0;
  #countedAtMs = 0;
  #overloadedSinceMs: number | undefined;

  /** @param list all of the sockets; asked only when they are counted */
  overloaded(list: () => readonly BackloggedSocket[], nowMs: number): boolean {
    const age = nowMs - this.#countedAtMs;
    // Counting asks every socket, so it isn't done for every publication.
    if (age >= 0 && age < countEveryMs) return this.#bytes > limits.backlogBytesMax;
    this.#countedAtMs = nowMs;
    const sockets = list();
    this.#bytes = sockets.reduce((sum, socket) => sum + socket.backlogBytes(), 0);
    if (this.#bytes <= limits.backlogBytesMax) {
      this.#overloadedSinceMs = undefined;
      return false;
    }
    this.#overloadedSinceMs ??= nowMs;
    if (nowMs - this.#overloadedSinceMs < limits.overloadMsMax) return true;
    this.#overloadedSinceMs = undefined;
    this.#bytes = 0;
    const shareBytes = limits.backlogBytesMax / sockets.length;
    for (const socket of sockets) {
      if (socket.backlogBytes() > shareBytes) socket.disconnect(disconnectCodes.slow);
    }
    return false;
  }
}

/** In this time a fast publisher adds no more than one channel's hub lets through. */
const countEveryMs = 250;
