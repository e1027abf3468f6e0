import { type ConnectionClaims, withoutSubscriptions } from "../../src/access/claims.ts";
import type { Config } from "../../src/config/config.ts";
import { Backlog } from "../../src/hub/backlog.ts";
import { limits } from "../../src/limits.ts";
import type { CodecName } from "../../src/protocol/codec.ts";
import { disconnectCodes } from "../../src/protocol/codes.ts";
import { isCodecName } from "../../src/protocol/codecs.ts";
import { TokenBucket } from "../../src/session/rate-limit.ts";
import { fitsAttachment, parseAttachment } from "../../src/contract/attachment.ts";
import type { Connection } from "../../src/session/ports.ts";
import type { Session } from "../../src/session/session.ts";
import type { SessionSnapshot } from "../../src/contract/session-snapshot.ts";
import {
  fullHeader,
  type Handover,
  handoverHeader,
  parseHandover,
} from "../../src/contract/handover.ts";
import type { SessionRows } from "../platform/session-rows.ts";
import { SocketConnection, type SocketHost } from "../platform/socket-connection.ts";
import { Client, type FrameHost } from "./client.ts";

/** What the object around the sockets is and does. */
export interface ClientSocketsSetup extends FrameHost {
  readonly context: DurableObjectState;
  readonly config: Config;
  readonly newSession: (snapshot: SessionSnapshot, connection: Connection) => Session;
  /** Whether the server makes subscriptions of its own here, which an upgrade's token may name. */
  readonly serverSubscriptions: boolean;
  /** The one channel that sockets here are opened for; absent where they are for any. */
  readonly channel?: string;
  /** Whether the object holds so much that it should get no more sockets. */
  readonly nearlyFull: () => boolean;
  /** Where sessions lie that are too large for an attachment; absent where none may be. */
  readonly rows?: SessionRows;
  /** Is called after everything a client did: what it caused goes out, and alarms are set. */
  readonly acted: (nowMs: number) => Promise<void>;
}

/**
 * The sockets of one object, of either kind, and the sessions on them. All of it may be thrown away between two events: the
 * constructor makes it again from the sockets' attachments (rules S1 to S4).
 */
export class ClientSockets {
  readonly #setup: ClientSocketsSetup;
  readonly #clients = new Map<WebSocket, Client>();
  readonly #admissions: TokenBucket | undefined;
  readonly #backlog = new Backlog();
  /** Whose state changed since {@link takeDueAtMs} was asked; all of them, in a fresh instance. */
  readonly #changed = new Set<WebSocket>();
  readonly #host: SocketHost;
  #sweptAtMs = 0;

  constructor(setup: ClientSocketsSetup) {
    this.#setup = setup;
    this.#host = {
      context: setup.context,
      ...(setup.rows === undefined ? {} : { rows: setup.rows }),
      saved: (socket) => this.#changed.add(socket),
    };
    const { connectionRateLimit } = setup.config.client;
    if (connectionRateLimit > 0) {
      this.#admissions = new TokenBucket({
        burst: connectionRateLimit,
        perSecond: connectionRateLimit,
      });
    }
    // The client's own pings are answered without waking the object.
    setup.context.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    for (const socket of setup.context.getWebSockets()) this.#restore(socket);
  }

  /** When {@link tick} has something to do for those who changed since this was asked, ms since 1970; Infinity for never. */
  takeDueAtMs(): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const socket of this.#changed) {
      const client = this.#clients.get(socket);
      if (client !== undefined) dueMs = Math.min(dueMs, client.session.dueAtMs);
    }
    this.#changed.clear();
    return dueMs;
  }

  /** Whether the sockets together hold as much as memory bears: then no more is to be sent, and no socket is taken. */
  overloaded(nowMs: number): boolean {
    return this.#backlog.overloaded(() => [...this.#clients.values()], nowMs);
  }

  /** Takes over a socket that the edge let through, or says why not. */
  async accept(request: Request): Promise<Response> {
    const { context, acted, serverSubscriptions, channel, rows } = this.#setup;
    const handover = parseHandover(request.headers.get(handoverHeader) ?? "");
    // The next release's edge may know one that this object doesn't. Once this one is gone the client is served.
    if (!isCodecName(handover.codec ?? "json")) return refuse("too-fast");
    const nowMs = Date.now();
    this.sweep(nowMs, false);
    const room = this.#room(nowMs);
    if (room !== "room") {
      await acted(nowMs);
      return refuse(room);
    }
    const claims = usefulClaims(handover, serverSubscriptions, channel);
    // Until the connect the subscriptions that it asks for can lie in a row, where there are rows.
    const kept = claims === undefined || rows === undefined ? claims : withoutSubscriptions(claims);
    if (!fitsAttachment(kept)) {
      await acted(nowMs);
      return new Response("The token says more than a session can keep", { status: 413 });
    }
    const snapshot = newSession(handover, claims, nowMs);
    const { secret } = snapshot;
    const { 0: theirs, 1: ours } = new WebSocketPair();
    // The tag is how what its client posts finds it again, after a sleep too.
    if (secret === undefined) context.acceptWebSocket(ours);
    else context.acceptWebSocket(ours, [secret]);
    this.#add(ours, snapshot).connection.save(snapshot);
    await acted(nowMs);
    return new Response(null, {
      status: 101,
      webSocket: theirs,
      headers: agreedProtocol(request, handover.codec ?? "json"),
    });
  }

  /** A frame was posted for the session that this is the secret of; for one that isn't here nothing happens (rule T4). */
  async post(secret: string, frame: string | Uint8Array): Promise<void> {
    // Nothing else is a tag of ours, and the platform takes only short ones.
    if (secret.length !== secretLength) return;
    const [socket] = this.#setup.context.getWebSockets(secret);
    if (socket !== undefined) await this.message(socket, frame);
  }

  /** A frame came. */
  async message(socket: WebSocket, message: string | ArrayBuffer | Uint8Array): Promise<void> {
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    const nowMs = Date.now();
    client.connection.heard(nowMs);
    if (client.session.ignoresCommands) return;
    this.sweep(nowMs, false);
    await client.take(message, this.#setup);
    await this.#setup.acted(Date.now());
  }

  /** The other side closed the socket. */
  async closed(socket: WebSocket, code: number, reason: string): Promise<void> {
    answerClose(socket, code, reason);
    await this.failed(socket);
  }

  /** The socket is gone. */
  async failed(socket: WebSocket): Promise<void> {
    // An object that this close woke was not given the socket any more; its attachment tells who left (rule S2).
    if (!this.#clients.has(socket)) this.#restore(socket);
    const client = this.#clients.get(socket);
    this.#clients.delete(socket);
    client?.session.ended();
    this.#changed.delete(socket);
    await this.#setup.acted(Date.now());
  }

  /** Does what is due of pings, expiries and stale connections. */
  tick(nowMs: number): void {
    const clients = [...this.#clients];
    const pingTick = clients.some(([, { session }]) => session.pingDueAtMs <= nowMs);
    for (const [socket, { session }] of clients) {
      session.tick(pingTick, nowMs);
      this.#changed.add(socket);
    }
    this.#setup.rows?.keepOnly(new Set(clients.map(([, { session }]) => session.client)));
  }

  /** Finds the sockets whose client fell silent: no alarm does, where clients do the pinging (rule K4). */
  sweep(nowMs: number, exactly: boolean): void {
    if (!exactly && nowMs - this.#sweptAtMs < this.#setup.config.client.pingIntervalMs) return;
    this.#sweptAtMs = nowMs;
    for (const { session } of this.#clients.values()) session.tick(false, nowMs);
  }

  #restore(socket: WebSocket): void {
    const { rows } = this.#setup;
    const attachment: unknown = socket.deserializeAttachment();
    const snapshot = parseAttachment(attachment, (client) => rows?.find(client));
    if (snapshot !== undefined) {
      this.#add(socket, snapshot);
      return;
    }
    // Another release wrote something this one can't read. The client comes back and recovers.
    new SocketConnection(socket, this.#host).close(disconnectCodes.insufficientState);
  }

  #add(socket: WebSocket, snapshot: SessionSnapshot): Client {
    // Who has no SDK reads each message as JSON (docs/protocol.md 4.5). What the edge holds, it divides itself.
    const oneByOne = snapshot.codec === "one_way" && snapshot.secret === undefined;
    const connection = new SocketConnection(socket, this.#host, oneByOne);
    const client = new Client(this.#setup.newSession(snapshot, connection), connection);
    this.#clients.set(socket, client);
    this.#changed.add(socket);
    return client;
  }

  /** A socket that we closed makes room at once; one whose client never answers the close still takes memory (rule B5). */
  #room(nowMs: number): "room" | Refusal {
    const { config, nearlyFull: crowded } = this.#setup;
    const { connectionLimit } = config.client;
    const socketsMax = Math.min(
      connectionLimit * limits.socketsPerConnection,
      limits.connectionsMax,
    );
    if (this.#clients.size >= socketsMax || crowded() || this.overloaded(nowMs)) return "full";
    // They are counted only when it may matter: for each of thousands who come at once it would be half of the work.
    if (this.#clients.size >= connectionLimit && this.#openCount() >= connectionLimit)
      return "full";
    return this.#admissions?.takeIfLeft(nowMs) === false ? "too-fast" : "room";
  }

  #openCount(): number {
    let open = 0;
    for (const { session } of this.#clients.values()) if (!session.closed) open++;
    return open;
  }
}

/**
 * The session of a socket that is about to be taken, on which nobody has connected yet.
 *
 * @param claims those of the handover that are of use here, see {@link usefulClaims}
 */
function newSession(
  { keepalive, codec, emulated, passing }: Handover,
  claims: ConnectionClaims | undefined,
  nowMs: number,
): SessionSnapshot {
  return {
    phase: "new",
    client: crypto.randomUUID(),
    openedAtMs: nowMs,
    keepalive,
    ...(codec === undefined ? {} : { codec }),
    ...(emulated === true ? { secret: newSecret() } : {}),
    ...(passing === true ? { passing } : {}),
    ...(claims === undefined ? {} : { claims }),
    subscriptions: [],
  };
}

/**
 * The subscriptions that a token asks for are of no use where the server makes none; but for the one that somebody asks for
 * with its address who only listens.
 *
 * @param channel the one that sockets here are opened for; undefined where they are for any
 */
function usefulClaims(
  { claims, codec }: Handover,
  serverSubscriptions: boolean,
  channel: string | undefined,
): ConnectionClaims | undefined {
  if (serverSubscriptions || claims?.subscriptions === undefined) return claims;
  const own = claims.subscriptions.filter((one) => one.channel === channel);
  return codec === "one_way" && own.length > 0
    ? { ...claims, subscriptions: own }
    : withoutSubscriptions(claims);
}

/** 256 bits that nobody can guess: whoever has them speaks for the client. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(secretLength / 2));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Hexadecimal digits in a session's secret. */
const secretLength = 64;

/** Why a socket isn't taken. */
type Refusal = "full" | "too-fast";

/** Browsers give a connection up whose handshake agrees on none of the protocols that they offered. */
function agreedProtocol(request: Request, codec: CodecName): Record<string, string> {
  const offered = (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",");
  const ours = `centrifuge-${codec}`;
  const agreed = offered.some((protocol) => protocol.trim() === ours);
  return agreed ? { "Sec-WebSocket-Protocol": ours } : {};
}

/**
 * For a full object the edge tries another one (rules G3, G4). Sockets that come too fast are made to come later instead
 * (rule B7), and not all at once: with others to go to they would come as fast as before, and stay where nobody else is.
 */
function refuse(why: Refusal): Response {
  const headers: Record<Refusal, Record<string, string>> = {
    full: { "Retry-After": "5", [fullHeader]: "1" },
    "too-fast": { "Retry-After": String(2 + Math.floor(Math.random() * 9)) },
  };
  return new Response("No room for another connection", { status: 503, headers: headers[why] });
}

/** A hibernatable socket's close frame is ours to answer; unanswered, the client waits and then reports 1006. */
function answerClose(socket: WebSocket, code: number, reason: string): void {
  try {
    // 1005 stands for a frame without a code and 1006 for no frame at all; neither can be sent.
    if (code === 1005 || code === 1006) socket.close();
    else socket.close(code, reason);
  } catch {
    // We closed it first, or the connection is gone.
  }
}
