/**
 * A WebSocket that pings by itself, so that a Dormouse object with idle sockets never has to wake.
 *
 *   import { Centrifuge } from "centrifuge";
 *   import { KeepAliveWebSocket } from "./keepalive-websocket.js";
 *   const client = new Centrifuge(address, { websocket: KeepAliveWebSocket });
 *
 * Centrifugo's protocol has the server ping, and every ping of a server has to be computed. This class sends the text
 * `ping` instead, which Cloudflare answers with `pong` on the object's behalf, and hands that to the SDK as the ping it
 * waits for. For browsers and for Node.js 22 or newer.
 */

/** How often to ping until the server has said how often it wants to hear, in ms. */
const intervalMsDefault = 25_000;

/**
 * Makes such a class out of another WebSocket class.
 *
 * @param {typeof WebSocket} Base a WebSocket class that is an EventTarget, as the standard's is
 * @returns {typeof WebSocket}
 */
export function keepAlive(Base) {
  return class KeepAliveWebSocket extends Base {
    #timer;
    #intervalMs = intervalMsDefault;
    #connected = false;

    constructor(address, protocols) {
      super(withKeepalive(address), protocols ?? []);
      // The first listener of all: what it stops, nobody else sees.
      this.addEventListener("message", (event) => this.#received(event));
      this.addEventListener("open", () => this.#restart());
      this.addEventListener("close", () => clearInterval(this.#timer));
    }

    #received(event) {
      if (event.data === "pong") {
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
        if (this.readyState === Base.OPEN) this.send("ping");
      }, this.#intervalMs);
    }
  };
}

/** Where there is no WebSocket at all, it is the choice of one that fails, not the loading of this file. */
export const KeepAliveWebSocket =
  globalThis.WebSocket === undefined ? undefined : keepAlive(globalThis.WebSocket);

function withKeepalive(address) {
  const url = new URL(address, globalThis.location?.href);
  url.searchParams.set("keepalive", "client");
  return url.href;
}

/** What the connect reply in this frame says about pings; undefined when there is none in it. */
function pingSeconds(frame) {
  for (const line of frame.split("\n")) {
    const seconds = JSON.parse(line).connect?.ping;
    if (typeof seconds === "number" && seconds > 0) return seconds;
  }
  return undefined;
}
