import type { Inbox } from "./inbox.ts";

/**
 * Makes a WebSocket class out of another one that notes each ping the SDK on top of it is given.
 *
 * @param pings takes when it came, in ms since 1970
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
