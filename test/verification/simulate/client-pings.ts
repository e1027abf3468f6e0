import { firstKeepaliveTexts, keepaliveTexts } from "../../../src/contract/keepalive.ts";
import type { Socket } from "./socket.ts";

/** A client answers the server's pings at once, as SDKs do. It also sends texts of its own, each of which is answered once. */
export class ClientPings {
  readonly #works: (() => void)[] = [];
  readonly #nowMs: () => number;
  /** When the client was pinged last, or connected, ms since 1970. */
  #pingedAtMs = 0;
  /** For how long the client wasn't pinged, at most, ms. */
  longestMs = 0;
  /** The texts that weren't answered. */
  unanswered = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** For how long the client hasn't been pinged, ms. */
  get silentMs(): number {
    return this.#nowMs() - this.#pingedAtMs;
  }

  /** The client has connected. */
  connected(): void {
    this.#pingedAtMs = this.#nowMs();
  }

  /** The connection is gone. */
  forget(): void {
    this.unanswered = 0;
  }

  /** Does work when the next ping has arrived, and is answered. */
  next(work: () => void): void {
    this.#works.push(work);
  }

  /** Sends a text that the object answers, and not the platform. */
  send(socket: Socket | undefined): void {
    if (socket === undefined) return;
    this.unanswered++;
    socket.fromClient(firstKeepaliveTexts.request);
  }

  /** A frame has arrived. @returns whether it answers such a text */
  takeAnswer(frame: string): boolean {
    if (frame !== firstKeepaliveTexts.answer) return false;
    this.unanswered--;
    return true;
  }

  /** A frame has arrived that is neither a reply nor a push. @returns whether it is a ping, which was answered */
  take(frame: string, socket: Socket | undefined): boolean {
    if (frame !== pingFrame) return false;
    this.longestMs = Math.max(this.longestMs, this.silentMs);
    this.#pingedAtMs = this.#nowMs();
    socket?.fromClient(keepaliveTexts.request);
    for (const work of this.#works.splice(0)) work();
    return true;
  }
}

const pingFrame = "{}";
