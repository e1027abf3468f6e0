// What the runtime itself can do: an object that batches and sends as Dormouse does, and keeps, checks and promises nothing.
// Its frames are byte by byte those of Dormouse. Plain JavaScript, because workerd loads it as it stands.
import { DurableObject } from "cloudflare:workers";

export class LimitObject extends DurableObject {
  #channel;
  #sockets;
  /** The same, as the loop wants it; undefined after a change. */
  #list;
  #offset = 0;
  #pending = [];
  #pendingBytes = 0;
  /** When the last frame has left, roughly. */
  #sentByMs = 0;
  #waitingCount = 0;
  #firstAtMs = 0;
  #newestAtMs = 0;
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
    if (this.#pendingBytes + push.length > batchBytesMax) this.#flush();
    this.#pending.push(push);
    this.#pendingBytes += push.length + 1;
    if (this.#pending.length >= batchPublicationsMax) this.#flush();
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

  /** Sends at once, unless a frame went out so recently that waiting for company is cheaper (src/hub/batch-window.ts). */
  #settle() {
    if (this.#pending.length === 0) return;
    const nowMs = Date.now();
    const waitMs = this.#waitMs(nowMs);
    if (waitMs > 0) {
      if (this.#timer !== undefined) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#settle();
      }, waitMs);
      return;
    }
    this.#sentByMs = nowMs + this.#sockets.size * costPerSocketMs;
    this.#waitingCount = 0;
    this.#flush();
  }

  #waitMs(nowMs) {
    const costMs = this.#sockets.size * costPerSocketMs;
    const endsAtMs = this.#sentByMs + costMs * lateShare + Math.min(costMs, collectMsMax);
    if (costMs < 1) return 0;
    if (this.#waitingCount === 0) this.#firstAtMs = nowMs;
    if (this.#pending.length !== this.#waitingCount) {
      this.#waitingCount = this.#pending.length;
      this.#newestAtMs = nowMs;
    }
    if (nowMs >= endsAtMs) {
      return Math.max(0, this.#firstAtMs + (costMs < headStartCostMs ? 0 : 1) - nowMs);
    }
    if (nowMs < this.#sentByMs) return this.#sentByMs - nowMs;
    if (this.#pending.length >= enoughCount) return 0;
    const pauseEndsAtMs = Math.max(this.#newestAtMs, this.#sentByMs) + pauseMs;
    return Math.min(pauseEndsAtMs, endsAtMs) - nowMs;
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

/** Those of src/hub/batch-window.ts and src/limits.ts. */
const costPerSocketMs = 0.025;
const headStartCostMs = 12.5;
const lateShare = 0.5;
const collectMsMax = 25;
const enoughCount = 64;
const pauseMs = 3;
const batchPublicationsMax = 256;
const batchBytesMax = 65_536;
