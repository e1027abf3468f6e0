import { withoutSubscriptions } from "../access/claims.ts";
import type { Config } from "../config/config.ts";
import type { Backlog } from "../hub/backlog.ts";
import { limits } from "../limits.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import { isCodecName } from "../protocol/codecs.ts";
import { TokenBucket } from "../session/token-bucket.ts";
import { fitsAttachment, parseAttachment } from "../contract/attachment.ts";
import { keepaliveAnswer, keepaliveTexts } from "../contract/keepalive.ts";
import type { Dialect } from "../session/dialect/dialect.ts";
import type { Connection } from "../session/ports.ts";
import type { Session } from "../session/session.ts";
import { secretPattern, type SessionSnapshot } from "../contract/session-snapshot.ts";
import type { Handover } from "../contract/handover.ts";
import type { Platform, PlatformSocket } from "./platform.ts";
import type { SessionRows } from "./session-rows.ts";
import { closeSocket, disconnectSocket } from "./close-socket.ts";
import { addressIn, isBounded, tagsOf } from "./socket-tags.ts";
import { SocketConnection, type SocketHost } from "./socket-connection.ts";
import { Client, type FrameHost } from "./client.ts";
import type { WaitingFrames } from "./frame-queue.ts";
import { HeldSockets, UnconnectedSockets } from "./unconnected-sockets.ts";
import { newSession, usefulClaims } from "./new-session.ts";
import { elapsed } from "../moment.ts";

/**
 * The sockets of one object, of either kind, with a {@link Client} on each. It takes over sockets that the edge hands
 * over, finds the client of a frame, sends pings, and closes expired and silent connections. Everything may be
 * discarded between two events: the constructor makes it again from the sockets' attachments (rules S1 to S4).
 */
export class ClientSockets {
  readonly #setup: ClientSocketsSetup;
  readonly #clients = new Map<PlatformSocket, Client>();
  /** Bounds how fast sockets are taken (rule B23); undefined without `client.connection_rate_limit`. */
  readonly #admissions: TokenBucket | undefined;
  /** Sockets whose session changed since the last {@link takeDueAtMs}; in a fresh instance, all sockets. */
  readonly #changed = new Set<PlatformSocket>();
  /**
   * Sockets of unidirectional clients that haven't sent their connect request. It may be `{}`, so while there is one the
   * platform answers nothing, and the object answers the others.
   */
  readonly #unrequested = new Set<PlatformSocket>();
  readonly #unconnected = new UnconnectedSockets<PlatformSocket>(
    (socket) => this.#clients.get(socket)?.session.hasConnected === true,
  );
  readonly #held = new HeldSockets();
  readonly #host: SocketHost;
  readonly #waitingFrames: WaitingFrames = { bytes: 0 };
  /** Whether a socket has gone since the last {@link takeDueAtMs}; in a fresh instance, maybe those of the last one. */
  #oneLeft = true;
  #sweptAtMs = 0;
  /** When {@link takeDueAtMs} was last called, ms since 1970. */
  #dueTakenMs = 0;

  constructor(setup: ClientSocketsSetup) {
    this.#setup = setup;
    this.#host = {
      platform: setup.platform,
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
    for (const socket of setup.platform.sockets.all()) this.#restore(socket);
    // The last instance may have been of another release, and have set another answer.
    this.#setAnswer();
  }

  /** All clients, those included whose connection the server has closed, but for onlookers (rule N26). */
  get clients(): readonly Client[] {
    return this.everyClient.filter(({ session }) => session.identity.onlooker !== true);
  }

  /** Their sessions. */
  *sessions(): Generator<Session> {
    for (const { session } of this.#clients.values())
      if (session.identity.onlooker !== true) yield session;
  }

  /** The clients with onlookers, for those who bound memory, and for the log-out. Features don't see them. */
  get everyClient(): readonly Client[] {
    return [...this.#clients.values()];
  }

  /** Whether the object has no socket, not even one that was closed and whose client hasn't answered. */
  get empty(): boolean {
    return this.#clients.size === 0;
  }

  /** Whether all sockets are ones that the object has closed and whose client hasn't answered, and there are any. */
  get onlyClosed(): boolean {
    for (const { session } of this.#clients.values()) if (!session.closed) return false;
    return !this.empty;
  }

  /** Forgets all sockets, which are about to be dropped. */
  forget(): void {
    for (const socket of this.#clients.keys()) this.#unconnected.delete(socket);
    this.#clients.clear();
    this.#changed.clear();
    this.#oneLeft = true;
  }

  /** Whether the alarm may be too late: it was set before the instance, or before the clock was set back (rule S5). */
  mayBeLate(nowMs: number): boolean {
    return this.#dueTakenMs === 0 || nowMs < this.#dueTakenMs;
  }

  /**
   * When {@link tick} is due for the sockets that changed since the last call, or the sockets are to be dropped: ms since
   * 1970; Infinity for never. It is called at the end of every event.
   */
  takeDueAtMs(nowMs: number): number {
    this.#answerAgain();
    let dueMs = Number.POSITIVE_INFINITY;
    const mayBeLeft = this.#changed.size > 0 || this.#oneLeft;
    this.#oneLeft = false;
    const { node, platform } = this.#setup;
    if (mayBeLeft) platform.silent?.report(node(), this.#silent());
    // The alarm was set by a clock that was set back since (rule S5).
    if (nowMs < this.#dueTakenMs)
      for (const socket of this.#clients.keys()) this.#changed.add(socket);
    this.#dueTakenMs = nowMs;
    if (mayBeLeft && this.onlyClosed) dueMs = nowMs + limits.closeAnswerMs;
    for (const socket of this.#changed) {
      const client = this.#clients.get(socket);
      if (client !== undefined) dueMs = Math.min(dueMs, client.session.dueAtMs(nowMs));
    }
    this.#changed.clear();
    return dueMs;
  }

  /**
   * Takes over a socket that the edge hands over.
   *
   * @param secret of a session whose client posts its frames; undefined for others
   * @param open   opens the socket, which carries these tags from then on
   */
  accept(
    handover: Handover,
    secret: string | undefined,
    open: (tags: readonly string[]) => PlatformSocket,
  ): Accepted {
    const { endEvent, serverSubscriptions, channel, rows, platform, listed } = this.#setup;
    // The edge may be of the next release, and know a codec that this object doesn't (rule V1). The client comes again,
    // and is served once the object is of that release, too.
    if (!isCodecName(handover.codec ?? "json")) return { outcome: "too-fast" };
    const nowMs = platform.nowMs();
    this.sweep(nowMs, false);
    const room = this.#room(handover, nowMs);
    if (room !== "room") {
      endEvent(nowMs);
      return { outcome: room };
    }
    const claims = usefulClaims(handover, serverSubscriptions, channel);
    // Until connect, the subscriptions in the claims can be stored in a row, where there are rows.
    const kept = claims === undefined || rows === undefined ? claims : withoutSubscriptions(claims);
    if (!fitsAttachment(kept)) {
      endEvent(nowMs);
      return { outcome: "too-large" };
    }
    const client = handover.asked?.client ?? platform.newClient();
    const snapshot = newSession(handover, { client, claims, listed: listed(), secret }, nowMs);
    const socket = open(tagsOf(snapshot, handover));
    this.#add(socket, snapshot).connection.save(snapshot);
    endEvent(nowMs);
    // The edge doesn't wait until the connect is carried out.
    if (handover.first !== undefined) this.message(socket, handover.first, () => undefined);
    return { outcome: "accepted" };
  }

  /**
   * Takes a frame that a client posted.
   *
   * @param session of the client, with its secret; for one that isn't here nothing happens (rule T4)
   */
  post(session: string, frame: string | Uint8Array, done: () => void): void {
    // The session of an anonymous client ends with the object's node (rule U6).
    const [secret = ""] = session.split("@", 1);
    // Other tags aren't secrets, and the platform throws for a tag that is too long.
    const [socket] = secretPattern.test(secret) ? this.#setup.platform.sockets.all(secret) : [];
    const client = socket === undefined ? undefined : this.#clients.get(socket);
    if (client === undefined) done();
    else this.#take(client, frame, done);
  }

  /** Takes a message of a socket: a frame of its client, or a keep-alive text that the platform didn't answer. */
  message(
    socket: PlatformSocket,
    message: string | ArrayBuffer | Uint8Array,
    done: () => void,
  ): void {
    const client = this.#clients.get(socket);
    if (client === undefined) {
      done();
      return;
    }
    const { session } = client;
    const isRequest = session.unidirectional && session.awaitsConnect;
    const isText = typeof message === "string" && !isRequest;
    const own = this.#setup.dialect?.keepalive;
    const answer = isText ? keepaliveAnswer(message, own) : undefined;
    if (answer === undefined) {
      const wasConnected = session.hasConnected;
      this.#take(client, message, () => {
        if (!wasConnected && session.hasConnected) this.#unconnected.delete(socket);
        done();
      });
      return;
    }
    const nowMs = this.#setup.platform.nowMs();
    client.connection.heard(nowMs);
    session.answerKeepalive(answer, nowMs);
    this.sweep(nowMs, false);
    this.#setup.endEvent(nowMs);
    done();
  }

  /** The client closed the socket: answers its close frame, and ends the session. */
  closed(socket: PlatformSocket, code: number, reason: string, wasClean: boolean): void {
    closeSocket(socket, code, reason);
    if (wasClean) this.#held.closed(socket);
    this.#end(socket, { code, reason });
  }

  /** The client broke the WebSocket protocol: ends the session. */
  failed(socket: PlatformSocket): void {
    this.#held.failed();
    this.#end(socket);
  }

  #end(socket: PlatformSocket, code?: DisconnectCode): void {
    // If this close woke the object, `getWebSockets` didn't list the socket any more. Its attachment names the session
    // that ends (rule S2).
    if (!this.#clients.has(socket)) this.#restore(socket);
    // The client stays in the list while it ends, because reports about the clients are compared with the list.
    const client = this.#clients.get(socket);
    client?.connection.gone();
    client?.session.ended(code);
    this.#clients.delete(socket);
    this.#unconnected.delete(socket);
    this.#changed.delete(socket);
    this.#oneLeft = true;
    this.#setup.endEvent(this.#setup.platform.nowMs());
  }

  /** Sends the pings and closes the connections that are due, and deletes rows of connections that are gone. */
  tick(nowMs: number): void {
    const clients = [...this.#clients];
    const pingTick = clients.some(([, { session }]) => session.pingDueAtMs(nowMs) <= nowMs);
    for (const [socket, { session }] of clients) {
      session.tick(pingTick, nowMs);
      this.#changed.add(socket);
    }
    this.#setup.rows?.keepOnly(new Set(clients.map(([, { session }]) => session.client)));
  }

  /**
   * Closes connections whose client is silent. Where the clients send the pings, no alarm does this (rule K4).
   *
   * @param exactly now; otherwise once in a ping interval
   */
  sweep(nowMs: number, exactly: boolean): void {
    const { pingIntervalMs } = this.#setup.config.client;
    if (!exactly && !elapsed(this.#sweptAtMs, pingIntervalMs, nowMs)) return;
    this.#sweptAtMs = nowMs;
    for (const { session } of this.#clients.values()) session.tick(false, nowMs);
  }

  /** Closes the oldest silent connection, in favour of another one of the server (rule B31). @returns false without one */
  closeOldestSilent(): boolean {
    const [oldest] = this.#silent();
    oldest?.disconnect(disconnectCodes.tooManyRequests);
    // The last report may be of an instance that ended without another one.
    this.#oneLeft = true;
    this.#setup.endEvent(this.#setup.platform.nowMs());
    return oldest !== undefined;
  }

  /** The sessions of open unconnected sockets on which no connect is under way, oldest first. */
  #silent(): Session[] {
    const unconnected = Array.from(this.#unconnected.all(), (socket) => this.#clients.get(socket));
    return unconnected.flatMap((client) => (client?.silent === true ? client.session : []));
  }

  /** Takes a frame of a client. */
  #take(client: Client, frame: string | ArrayBuffer | Uint8Array, done: () => void): void {
    const { platform, endEvent } = this.#setup;
    const nowMs = platform.nowMs();
    client.connection.heard(nowMs);
    if (client.session.ignoresCommands) {
      done();
      return;
    }
    this.sweep(nowMs, false);
    client.receive(frame, this.#setup, () => {
      endEvent(platform.nowMs());
      done();
    });
  }

  /** Has the platform answer keep-alive texts again once no socket awaits a request that looks like one (rule T8). */
  #answerAgain(): void {
    if (this.#unrequested.size === 0) return;
    for (const socket of this.#unrequested) {
      const session = this.#clients.get(socket)?.session;
      if (session?.awaitsConnect !== true) this.#unrequested.delete(socket);
    }
    if (this.#unrequested.size === 0) this.#setAnswer();
  }

  /** Has the platform answer keep-alive texts or not (rule K3). */
  #setAnswer(): void {
    const { dialect, platform } = this.#setup;
    const texts = dialect?.keepalive ?? keepaliveTexts;
    platform.sockets.setAnswering(this.#unrequested.size === 0 ? texts : undefined);
  }

  #restore(socket: PlatformSocket): void {
    const { rows } = this.#setup;
    const attachment: unknown = socket.deserializeAttachment();
    const snapshot = parseAttachment(attachment, (client) => rows?.textOf(client));
    if (snapshot !== undefined) {
      this.#add(socket, snapshot);
      return;
    }
    // Another release wrote an attachment that this one can't read. The client reconnects and recovers.
    disconnectSocket(socket, disconnectCodes.insufficientState);
  }

  #add(socket: PlatformSocket, snapshot: SessionSnapshot): Client {
    // A unidirectional client reads one message from each WebSocket frame (docs/protocol.md 4.5). On a stream the edge
    // divides the frames.
    const { codec, secret, dialect } = snapshot;
    const oneByOne = (codec === "one_way" && secret === undefined) || dialect !== undefined;
    const connection = new SocketConnection(socket, this.#host, oneByOne);
    const client = new Client(
      this.#setup.newSession(snapshot, connection),
      connection,
      this.#waitingFrames,
    );
    this.#clients.set(socket, client);
    if (mayBeUnconnected(snapshot))
      this.#unconnected.register(socket, addressIn(this.#setup.platform.sockets.tagsOf(socket)));
    this.#changed.add(socket);
    if (client.session.unidirectional && client.session.awaitsConnect) {
      this.#unrequested.add(socket);
      this.#setAnswer();
    }
    return client;
  }

  /**
   * Whether there is room for a socket. A connection that the object closed makes room at once; its socket still takes
   * memory until the client answers the close, and such sockets are bounded, too (rule B5).
   */
  #room(handover: Handover, nowMs: number): SocketRoom {
    const { config, nearlyFull, backlog } = this.#setup;
    const { connectionLimit } = config.client;
    const socketsMax = Math.min(
      connectionLimit * limits.socketsPerConnection,
      limits.connectionsMax,
    );
    const leavesRoom = this.#held.leaveRoom(socketsMax - this.#clients.size);
    if (!leavesRoom || nearlyFull() || backlog.overloaded()) return "full";
    // Open connections are counted only when there may be too many: for thousands of sockets that come at once,
    // counting would be half of the work.
    if (this.#clients.size >= connectionLimit && this.#openCount() >= connectionLimit)
      return "full";
    if (isBounded(handover)) {
      const room = this.#unconnected.room(handover.address ?? "");
      if (room !== "room") return room;
    }
    return this.#admissions?.spendIfLeft(nowMs) === false ? "too-fast" : "room";
  }

  #openCount(): number {
    let open = 0;
    for (const { session } of this.#clients.values()) if (!session.closed) open++;
    return open;
  }
}

/** The object as its sockets see it. */
export interface ClientSocketsSetup extends FrameHost {
  readonly platform: Platform;
  readonly config: Config;
  /** The object's node (docs/protocol.md 4.3). */
  readonly node: () => string;
  readonly newSession: (snapshot: SessionSnapshot, connection: Connection) => Session;
  /** Whether the server makes subscriptions of its own here; then the token of an upgrade may name them (rule C9). */
  readonly serverSubscriptions: boolean;
  /** The one channel that sockets here are opened for; absent on a gateway for all channels. */
  readonly channel?: string;
  /** Whether the object holds so much that it refuses further sockets (rule G7). */
  readonly nearlyFull: () => boolean;
  /** The protocol of the clients; absent where they speak the server's own. */
  readonly dialect?: Dialect;
  /** Whether the directory lists the object (rule U22). */
  readonly listed: () => boolean;
  /** The backlog of {@link ClientSockets.clients} (rule B3). */
  readonly backlog: Backlog;
  /** Stores sessions that are too large for an attachment (rule G2); absent where sessions may not be. */
  readonly rows?: SessionRows;
  /** Called after each event of a client: sends what the event collected, and sets the alarm. */
  readonly endEvent: (nowMs: number) => void;
}

/**
 * Whether a socket was taken. If not, either the object has no {@link SocketRoom}, or the token's claims are too large
 * to be kept.
 */
export type Accepted =
  | { readonly outcome: "accepted" }
  | { readonly outcome: Exclude<SocketRoom, "room"> | "too-large" };

/**
 * Whether {@link UnconnectedSockets} bounds the socket of a session, as {@link isBounded} says of a handover. A closed
 * session without claims counts as never connected: it doesn't say, and only where clients connect without a token it may
 * have been.
 */
function mayBeUnconnected({ phase, claims, secret }: SessionSnapshot): boolean {
  return phase !== "connected" && claims === undefined && secret === undefined;
}

/**
 * Whether the object takes another socket: it is full, sockets come too fast (rule B23), or the address has enough of
 * them (rule B13).
 */
type SocketRoom = "room" | "full" | "too-fast" | "too-many-of-address";
