/**
 * A WebSocket that sends pings, so that a Dormouse object with idle sockets never has to wake.
 *
 *   import { Centrifuge } from "centrifuge";
 *   import { KeepAliveWebSocket } from "./keepalive-websocket.js";
 *   const client = new Centrifuge(address, { websocket: KeepAliveWebSocket });
 *
 * In Centrifugo's protocol the server sends the pings, and has to wake for them. This class sends the text `{}` instead,
 * which Cloudflare answers on behalf of the object. The class passes the answer to the SDK as the ping for which the SDK
 * waits. It runs in browsers and in Node.js 22 or newer.
 */

/** The text that Cloudflare answers, and its answer, which is `{}` to the SDK. */
const request = "{}";
const answer = '{"push":{"channel":""}}';

/** The interval of pings in ms until the connect reply has named one. */
const intervalMsDefault = 25_000;

/**
 * Derives a WebSocket class that sends pings from another one.
 *
 * @param {typeof WebSocket} Base a WebSocket class that is an EventTarget, as the standard one is
 * @returns {typeof WebSocket}
 */
export function keepAlive(Base) {
  return class KeepAliveWebSocket extends Base {
    #timer;
    #intervalMs = intervalMsDefault;
    #connected = false;

    constructor(address, protocols) {
      super(withKeepalive(address), protocols ?? []);
      // The first listener, so that the events that it stops reach no other listener.
      this.addEventListener("message", (event) => this.#received(event));
      this.addEventListener("open", () => this.#restart());
      this.addEventListener("close", () => clearInterval(this.#timer));
    }

    #received(event) {
      if (event.data === answer) {
        event.stopImmediatePropagation();
        this.dispatchEvent(new MessageEvent("message", { data: "{}" }));
        return;
      }
      if (this.#connected || typeof event.data !== "string") return;
      const seconds = pingSeconds(event.data);
      if (seconds === undefined) return;
      this.#connected = true;
      this.#intervalMs = seconds * 1000;
      this.#restart();
    }

    #restart() {
      clearInterval(this.#timer);
      this.#timer = setInterval(() => {
        if (this.readyState === Base.OPEN) this.send(request);
      }, this.#intervalMs);
    }
  };
}

/** Undefined if the platform has no WebSocket: choosing this class fails then, and not loading this file. */
export const KeepAliveWebSocket =
  globalThis.WebSocket === undefined ? undefined : keepAlive(globalThis.WebSocket);

function withKeepalive(address) {
  const url = new URL(address, globalThis.location?.href);
  url.searchParams.set("keepalive", "client");
  return url.href;
}

/** The ping interval in seconds from a frame with the connect reply; undefined if the frame has none. */
function pingSeconds(frame) {
  for (const line of frame.split("\n")) {
    const seconds = JSON.parse(line).connect?.ping;
    if (typeof seconds === "number" && seconds > 0) return seconds;
  }
  return undefined;
}
