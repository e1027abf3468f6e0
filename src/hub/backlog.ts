import { limits } from "../limits.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";

/**
 * Decides what becomes of sockets whose backlogs together exceed `limits.backlogBytesMax` (rule B3). For
 * `limits.overloadMsMax` nothing is sent to them, so that healthy clients catch up. Sockets whose backlog still exceeds
 * their share after that are closed, or a few stalled clients could keep all others from getting anything.
 */
export class Overload {
  #sinceMs: number | undefined;

  /**
   * Judges a backlog.
   *
   * @param backlogBytes of all the sockets together, counted just now
   * @returns too-much: nothing is to be sent. too-long: that has lasted for `limits.overloadMsMax`, and slow sockets
   *          are to be closed
   */
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

/**
 * The share of each of so many sockets, in bytes. A socket with a larger backlog is slow once an overload has lasted too
 * long.
 */
export function backlogShareBytes(socketCount: number): number {
  return limits.backlogBytesMax / socketCount;
}

/** A socket that has a backlog. */
export interface BackloggedSocket {
  /** Bytes handed to it that the client has not taken yet. */
  backlogBytes(): number;
  disconnect(code: DisconnectCode): void;
}

/**
 * The backlog of all sockets of an object. No single hub sees them all: a socket may have many channels, or none yet. A
 * hub counts its own subscribers, as often as it sends to them.
 */
export class Backlog {
  #bytes = 0;
  #countedAtMs = 0;
  readonly #overload = new Overload();

  /**
   * Whether the sockets' backlogs together take too much memory (rule B3). Closes slow sockets when that has lasted too
   * long.
   *
   * @param list gives all sockets; called only when they are counted
   */
  overloaded(list: () => readonly BackloggedSocket[], nowMs: number): boolean {
    const age = nowMs - this.#countedAtMs;
    // Counting asks every socket, which would be too much for every publication.
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

/** Within so many ms a fast publisher adds no more than the hub of one channel lets through. */
const countEveryMs = 250;
