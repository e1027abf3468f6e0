import { DurableObject } from "cloudflare:workers";

// What the runtime itself can do: an object that collects and sends, and checks and promises nothing. With a HISTORY_SIZE it
// writes one row for each publication, as Dormouse does with history; without, it keeps nothing. It sends a frame to a few
// sockets, gives the event loop a turn, and goes on; what comes meanwhile shares the next frame. Its frames are byte by byte
// those of Dormouse. It imports nothing of Dormouse, so that a change there doesn't move what Dormouse is compared with.
// Plain JavaScript, because workerd loads it as it stands.

export class LimitObject extends DurableObject {
  #channel;
  #sockets;
  /** The same, as the loop wants it; undefined after a change. */
  #list;
  #historySize;
  #offset = 0;
  #pending = [];
  /** Whether a frame is on its way, or about to be. */
  #isSending = false;
  #frame = "";
  /** The sockets that the frame goes to, and how many of them have it. */
  #receivers = [];
  #sentCount = 0;

  constructor(context, env) {
    super(context, env);
    this.#channel = JSON.stringify(context.id.name);
    this.#sockets = new Set(context.getWebSockets());
    this.#historySize = Number(env.HISTORY_SIZE ?? 0);
    if (this.#historySize > 0) this.#openHistory();
  }

  fetch() {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    this.#sockets.add(ours);
    this.#list = undefined;
    return new Response(null, { status: 101, webSocket: theirs });
  }

  publish(data) {
    const offset = ++this.#offset;
    if (this.#historySize > 0) {
      // A full history overwrites its oldest row, so that each publication writes one row.
      this.ctx.storage.sql.exec(
        "INSERT OR REPLACE INTO publications VALUES (?, ?, ?)",
        offset % this.#historySize,
        offset,
        data,
      );
    }
    if (this.#sockets.size === 0) return;
    this.#pending.push(
      `{"push":{"channel":${this.#channel},"pub":{"data":${data},"offset":${offset},"epoch":"unending"}}}`,
    );
    if (!this.#isSending) this.#beginFrame();
  }

  webSocketMessage(socket, message) {
    socket.send(replyTo(message));
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

  #openHistory() {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS publications (slot INTEGER PRIMARY KEY, offset INTEGER NOT NULL, data TEXT NOT NULL)",
    );
    this.#offset = sql.exec("SELECT coalesce(max(offset), 0) AS top FROM publications").one().top;
  }

  /** A lone publication goes at once; under load there is always a frame on its way. */
  #beginFrame() {
    this.#isSending = true;
    this.#frame = this.#pending.splice(0, publicationsMax).join("\n");
    this.#receivers = this.#list ??= [...this.#sockets];
    this.#sentCount = 0;
    this.#sendSlice();
  }

  #sendSlice() {
    const end = Math.min(this.#sentCount + sliceSockets, this.#receivers.length);
    while (this.#sentCount < end) {
      try {
        this.#receivers[this.#sentCount++].send(this.#frame);
      } catch {
        // It is closing, and its event is on the way.
      }
    }
    if (end < this.#receivers.length) {
      setTimeout(() => this.#sendSlice(), 0);
      return;
    }
    this.#frame = "";
    this.#receivers = [];
    this.#isSending = this.#pending.length > 0;
    // Whoever publishes in this turn of the loop still gets into the next frame.
    if (this.#isSending) setTimeout(() => this.#beginFrame(), 0);
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

/** Only the id of a command is read. Commands that a subscriber sends later are refused as Dormouse refuses an `rpc`. */
function replyTo(message) {
  const id = message.slice(idStart, message.indexOf(",", idStart));
  if (id === "1") return connectReply;
  return id === "2"
    ? subscribeReply
    : `{"id":${id},"error":{"code":108,"message":"not available"}}`;
}

const idStart = '{"id":'.length;
const connectReply =
  '{"id":1,"connect":{"client":"01234567-89ab-cdef-0123-456789abcdef","version":"0","ping":25,"pong":true}}';
const subscribeReply =
  '{"id":2,"subscribe":{"recoverable":true,"epoch":"unending","positioned":true}}';

/** As in Dormouse, where nothing is collected. Sending to one socket takes the object's thread about 25 µs. */
const sliceSockets = 10;
/** More publications than this share no frame. */
const publicationsMax = 256;
