import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import type { Socket } from "./socket.ts";

/** A client answers the server's pings at once, as SDKs do. */
export class ClientPings {
  readonly #works: (() => void)[] = [];

  /** Does work when the next ping has arrived, and is answered. */
  next(work: () => void): void {
    this.#works.push(work);
  }

  /** A frame has arrived that is neither a reply nor a push. @returns whether it is a ping, which was answered */
  take(frame: string, socket: Socket | undefined): boolean {
    if (frame !== pingFrame) return false;
    socket?.fromClient(keepaliveTexts.request);
    for (const work of this.#works.splice(0)) work();
    return true;
  }
}

const pingFrame = "{}";
