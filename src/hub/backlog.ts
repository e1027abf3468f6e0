import { limits } from "../limits.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";

/**
 * Decides what becomes of sockets whose backlogs together take more than memory bears (rule B3). While they do nothing is
 * sent to them, so that healthy readers catch up; after `limits.overloadMsMax` those that are still behind their share are
 * to be cut, or a few stalled readers could silence all others.
 */
export class Overload {
  #sinceMs: number | undefined;

  /** @param backlogBytes of all the sockets together, counted just now */
  judge(backlogBytes: number, nowMs: number): "bearable" | "too-much" | "too-long" {
    if (backlogBytes <= limits.backlogBytesMax) {
      this.#sinceMs = undefined;
      return "bearable";
    }
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs < limits.overloadMsMax) return "too-much";
    this.#sinceMs = undefined;
    return "too-long";
  }
}

/** The backlog of one of so many sockets beyond which it is cut when the overload lasts too long. */
export function backlogShareBytes(socketCount: number): number {
  return limits.backlogBytesMax / socketCount;
}

/** A socket, as far as its backlog goes. */
export interface BackloggedSocket {
  /** Bytes handed to it that the peer has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
}

/**
 * The backlog of all sockets of an object, of which no single hub sees all: they may have many channels, or none yet. A
 * hub counts its own subscribers whenever it sends to them.
 */
export class Backlog {
  #bytes = 0;
  #countedAtMs = 0;
  readonly #overload = new Overload();

  /** @param list all of the sockets; asked only when they are counted */
  overloaded(list: () => readonly BackloggedSocket[], nowMs: number): boolean {
    const age = nowMs - this.#countedAtMs;
    // Counting asks every socket, so it isn't done for every publication.
    if (age >= 0 && age < countEveryMs) return this.#bytes > limits.backlogBytesMax;
    this.#countedAtMs = nowMs;
    const sockets = list();
    this.#bytes = sockets.reduce((sum, socket) => sum + socket.backlogBytes(), 0);
    switch (this.#overload.judge(this.#bytes, nowMs)) {
      case "bearable":
        return false;
      case "too-much":
        return true;
      case "too-long":
        this.#bytes = 0;
        cutBeyond(backlogShareBytes(sockets.length), sockets);
        return false;
    }
  }
}

function cutBeyond(shareBytes: number, sockets: readonly BackloggedSocket[]): void {
  for (const socket of sockets) {
    if (socket.backlogBytes() > shareBytes) socket.disconnect(disconnectCodes.slow);
  }
}

/** In this time a fast publisher adds no more than one channel's hub lets through. */
const countEveryMs = 250;
