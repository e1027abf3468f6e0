import type { Inbox } from "../inbox.ts";

/**
 * Derives a WebSocket class that records each ping that the SDK receives.
 *
 * @param pings takes the time of each ping, in ms since 1970
 */
export function recordPings(pings: Inbox<number>, Base: typeof WebSocket): typeof WebSocket {
  return class extends Base {
    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols);
      this.addEventListener("message", ({ data }) => {
        if (data === "{}") pings.push(Date.now());
      });
    }
  };
}
