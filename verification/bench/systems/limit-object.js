import { DurableObject } from "cloudflare:workers";
import { BatchWindow } from "./batch-window.js";
import { limits } from "./limits.js";

// What the runtime itself can do: an object that batches and sends as Dormouse does, and keeps, checks and promises nothing.
// Its frames are byte by byte those of Dormouse, and when they go is decided by Dormouse's own code, of which limit.ts adds the
// two modules. Plain JavaScript, because workerd loads it as it stands.

export class LimitObject extends DurableObject {
  #channel;
  #sockets;
  /** The same, as the loop wants it; undefined after a change. */
  #list;
  #offset = 0;
  #pending = [];
  #pendingBytes = 0;
  #window = new BatchWindow();
  #timer;

  constructor(context, env) {
    super(context, env);
    this.#channel = JSON.stringify(context.id.name);
    this.#sockets = new Set(context.getWebSockets());
  }

  fetch() {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    this.#sockets.add(ours);
    this.#list = undefined;
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(data) {
    if (this.#sockets.size === 0) return;
    const push = `{"push":{"channel":${this.#channel},"pub":{"data":${data},"offset":${++this.#offset},"epoch":"unending"}}}`;
    if (this.#pendingBytes + push.length > limits.batchBytesMax) this.#flush();
    this.#pending.push(push);
    this.#pendingBytes += push.length + 1;
    if (this.#pending.length >= limits.batchPublicationsMax) this.#flush();
    this.#settle();
  }

  webSocketMessage(socket, message) {
    socket.send(message.startsWith(connectCommand) ? connectReply : subscribeReply);
  }

  webSocketClose(socket) {
    this.webSocketError(socket);
    try {
      socket.close();
    } catch {
      // The connection is gone.
    }
  }

  webSocketError(socket) {
    this.#sockets.delete(socket);
    this.#list = undefined;
  }

  /** Sends at once, unless a frame went out so recently that waiting for company is cheaper. */
  #settle() {
    if (this.#pending.length === 0) return;
    const nowMs = Date.now();
    const waitMs = this.#window.waitMs(this.#pending.length, this.#sockets.size, nowMs);
    if (waitMs > 0) {
      if (this.#timer !== undefined) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#settle();
      }, waitMs);
      return;
    }
    this.#window.sent(this.#sockets.size, nowMs);
    this.#flush();
  }

  #flush() {
    const frame = this.#pending.join("\n");
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#list ??= [...this.#sockets];
    for (const socket of this.#list) {
      try {
        socket.send(frame);
      } catch {
        // It is closing, and its event is on the way.
      }
    }
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get("Upgrade") === "websocket") {
      const isKnown = env.TOKEN_SECRET === undefined || (await isSigned(searchParams, env));
      return isKnown
        ? objectOf(env, pathname).fetch(request)
        : new Response("Unauthorized", { status: 401 });
    }
    if (pathname === "/publish") {
      const { channels, data } = await request.json();
      const text = JSON.stringify(data);
      await Promise.all(channels.map((name) => env.CHANNELS.getByName(name).publish(text)));
    } else if (pathname.endsWith("/publish")) {
      await objectOf(env, pathname).publish(await request.text());
    }
    return new Response("{}");
  },
};

/** Of a path such as `/channel/<name>/websocket`. */
function objectOf(env, pathname) {
  return env.CHANNELS.getByName(decodeURIComponent(pathname.split("/")[2]));
}

/** Whether the token in a query was signed with the secret; what it says doesn't matter here. */
async function isSigned(searchParams, env) {
  key ??= crypto.subtle.importKey(
    "raw",
    encoder.encode(env.TOKEN_SECRET),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  // 32 bytes of signature in base64url; anything else couldn't even be decoded.
  const parts = /^(.+)\.([\w-]{43})$/.exec(searchParams.get("token") ?? "");
  if (parts === null) return false;
  const signature = Uint8Array.from(
    atob(parts[2].replaceAll("-", "+").replaceAll("_", "/")),
    (letter) => letter.charCodeAt(0),
  );
  return crypto.subtle.verify("HMAC", await key, signature, encoder.encode(parts[1]));
}

/** Imported by the first request that needs it: at start the secret isn't known. */
let key;
const encoder = new TextEncoder();

const connectCommand = '{"id":1,';
const connectReply =
  '{"id":1,"connect":{"client":"01234567-89ab-cdef-0123-456789abcdef","version":"0","ping":25,"pong":true}}';
const subscribeReply =
  '{"id":2,"subscribe":{"recoverable":true,"epoch":"unending","positioned":true}}';
