import { DurableObject } from "cloudflare:workers";
import type { ChannelAnswers, ChannelCommand } from "../../src/api/channel-command.ts";
import { commandBytes } from "../../src/api/command-bytes.ts";
import { executeAll } from "../../src/api/execute.ts";
import { Channel } from "../../src/channel/channel.ts";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import type { Sql } from "../../src/channel/sql.ts";
import { storedAtMs, storedTables } from "../../src/channel/stored-tables.ts";
import type { Config } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import { disconnectCodes, errorCodes } from "../../src/protocol/codes.ts";
import { jsonCodec } from "../../src/protocol/json-codec.ts";
import { fitsSnapshot } from "../../src/session/connect-command.ts";
import { Session, type Verdicts } from "../../src/session/session.ts";
import { parseSnapshot, type SessionSnapshot } from "../../src/session/snapshot.ts";
import { version } from "../../src/version.ts";
import { AlarmSchedule } from "../platform/alarm-schedule.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { handoverHeader, parseHandover } from "../platform/handover.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import { SocketConnection } from "../platform/socket-connection.ts";
import { CommitQueue } from "./commit-queue.ts";
import { commandVerdicts } from "./command-verdicts.ts";
import { readFrame } from "./read-frame.ts";

/** One socket and the session on it. */
interface Client {
  readonly session: Session;
  readonly connection: SocketConnection;
}

/**
 * The object of one channel, named by it. It owns nothing but what the platform gives it (storage, sockets, alarm, time)
 * and does what the channel and the sessions decide. Everything here may be thrown away between two events: the
 * constructor makes it again from SQLite and the sockets' attachments (rules S1 to S4).
 */
export class ChannelObject extends DurableObject<Env> {
  readonly #config: Config;
  readonly #tokenSecret: string;
  readonly #channel: Channel;
  readonly #known: boolean;
  readonly #clients = new Map<WebSocket, Client>();
  readonly #alarms: AlarmSchedule;
  readonly #queue: CommitQueue;
  /** Rows written since the object woke, for whoever watches the cost. */
  readonly sql: ObjectSql;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #sweptAtMs = 0;
  #allScheduled = false;
  /** Whether there may be something to delete once nothing is stored any more. */
  #hadStorage: boolean;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const configuration = configurationOf(env);
    if (configuration.outcome === "unconfigured")
      throw new Error(configuration.problems.join("\n"));
    this.#config = configuration.config;
    this.#tokenSecret = configuration.secrets.tokenHmacSecretKey;
    this.#alarms = new AlarmSchedule(context.storage);
    this.sql = new ObjectSql(context.storage);
    this.#queue = new CommitQueue({
      settle: () => this.#settle(Date.now()),
      committed: () => context.storage.sync(),
    });
    const name = context.id.name ?? "";
    const resolved = resolveChannel(name, this.#config.channel);
    this.#known = resolved.outcome === "resolved";
    this.#hadStorage = storedTables(this.sql).size > 0;
    this.#channel = new Channel({
      name,
      options:
        resolved.outcome === "resolved" ? resolved.options : this.#config.channel.withoutNamespace,
      client: this.#config.client,
      codec: jsonCodec,
      // A namespace that left the configuration may come back: what it stored is left alone.
      sql: this.#known ? this.sql : noStorage,
      newEpoch,
      nowMs: Date.now(),
    });
    // The client's own pings are answered without waking the object.
    context.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    for (const socket of context.getWebSockets()) this.#restore(socket);
  }

  /** Carries out commands of the HTTP API, in order, and answers when what they wrote is durable. */
  async execute(commands: readonly ChannelCommand[]): Promise<ChannelAnswers> {
    const bytes = commands.reduce((sum, command) => sum + commandBytes(command), 0);
    const carriedOut = await this.#queue.add(bytes, () => this.#carryOut(commands));
    await this.#schedule(Date.now());
    return carriedOut.outcome === "done" ? carriedOut.result : carriedOut;
  }

  /** Takes over a socket that the edge let through. */
  override async fetch(request: Request): Promise<Response> {
    const { keepalive, claims } = parseHandover(request.headers.get(handoverHeader) ?? "");
    const nowMs = Date.now();
    this.#sweep(nowMs, false);
    if (!this.#hasRoom()) {
      return new Response("This channel has no room for another connection", {
        status: 503,
        headers: { "Retry-After": "5" },
      });
    }
    const snapshot: SessionSnapshot = {
      v: 1,
      phase: "new",
      client: crypto.randomUUID(),
      openedAtMs: nowMs,
      keepalive,
      ...(claims === undefined ? {} : { claims }),
    };
    if (!fitsSnapshot(snapshot)) {
      return new Response("The token says more than a session can keep", { status: 413 });
    }
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.ctx.acceptWebSocket(ours);
    const { session, connection } = this.#add(ours, snapshot);
    connection.save(snapshot);
    await this.#schedule(nowMs, session);
    const offered = (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",");
    const agreed = offered.some((protocol) => protocol.trim() === jsonProtocol);
    return new Response(null, {
      status: 101,
      webSocket: theirs,
      headers: agreed ? { "Sec-WebSocket-Protocol": jsonProtocol } : {},
    });
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    const { session, connection } = client;
    const nowMs = Date.now();
    connection.heard(nowMs);
    this.#sweep(nowMs, false);
    try {
      await this.#receive(session, message);
    } catch (error) {
      // A bug of ours must not strand the client: this code makes it come back.
      console.error(`A frame failed: ${error instanceof Error ? error.name : "unknown error"}`);
      session.disconnect(disconnectCodes.internalServerError);
    }
    this.#settle(Date.now());
    await this.#schedule(Date.now(), session);
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    answerClose(socket, code, reason);
    await this.#ended(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#ended(socket);
  }

  override async alarm(): Promise<void> {
    this.#alarms.rang();
    const nowMs = Date.now();
    const clients = [...this.#clients.values()];
    const pingTick = clients.some(({ session }) => session.pingDueAtMs <= nowMs);
    for (const { session } of clients) session.tick(pingTick, nowMs);
    this.#settle(nowMs);
    this.#channel.forgetWhatEnded(nowMs);
    if (this.#channel.storesNothing) await this.#deleteLeftovers(nowMs);
    this.#allScheduled = false;
    await this.#schedule(nowMs);
  }

  #carryOut(commands: readonly ChannelCommand[]): ChannelAnswers {
    const nowMs = Date.now();
    if (!this.#known) {
      const unknown = { error: errorCodes.unknownChannel };
      return { outcome: "answers", answers: commands.map(() => unknown) };
    }
    this.#sweep(nowMs, commands.some(asksPresence));
    if (commands.some(publishes) && this.#channel.hub.overloaded(nowMs)) {
      return { outcome: "overloaded", retryAfterSeconds: 1 };
    }
    return { outcome: "answers", answers: executeAll(this.#channel, commands, nowMs) };
  }

  async #receive(session: Session, message: string | ArrayBuffer): Promise<void> {
    const frame = readFrame(message);
    switch (frame.outcome) {
      case "too-large":
        session.disconnect(disconnectCodes.messageSizeLimit);
        return;
      case "malformed":
        session.disconnect(disconnectCodes.badRequest);
        return;
      case "frame":
        break;
    }
    const { commands, malformed } = jsonCodec.decodeFrame(frame.text);
    const verdicts: Verdicts[] = [];
    for (const command of commands) {
      const verdict = commandVerdicts(command, this.#tokenSecret, Date.now());
      verdicts.push(verdict === undefined ? {} : await verdict);
    }
    // From here on nothing comes between the commands of a frame.
    const carryOut = (busy: boolean): void => {
      const nowMs = Date.now();
      for (const [index, command] of commands.entries()) {
        session.receive(command, verdicts[index] ?? {}, nowMs, busy);
      }
      if (malformed !== undefined) session.disconnect(disconnectCodes.badRequest);
    };
    if (!commands.some(publishes)) {
      carryOut(false);
      return;
    }
    const carriedOut = await this.#queue.add(frame.text.length, () => carryOut(false));
    if (carriedOut.outcome === "overloaded") carryOut(true);
  }

  async #ended(socket: WebSocket): Promise<void> {
    // An object that this close woke was not given the socket any more; its attachment tells who left (rule S2).
    if (!this.#clients.has(socket)) this.#restore(socket);
    const client = this.#clients.get(socket);
    this.#clients.delete(socket);
    client?.session.ended();
    this.#settle(Date.now());
    await this.#schedule(Date.now());
  }

  #restore(socket: WebSocket): void {
    const snapshot = parseSnapshot(socket.deserializeAttachment());
    if (snapshot !== undefined) {
      this.#add(socket, snapshot);
      return;
    }
    // Another release wrote something this one can't read. The client comes back and recovers.
    new SocketConnection(socket, this.ctx).close(disconnectCodes.insufficientState);
  }

  #add(socket: WebSocket, snapshot: SessionSnapshot): Client {
    const connection = new SocketConnection(socket, this.ctx);
    const session = new Session(snapshot, connection, {
      config: this.#config,
      channel: this.#channel,
      codec: jsonCodec,
      version,
    });
    const client = { session, connection };
    this.#clients.set(socket, client);
    return client;
  }

  /** Sends what was collected, now or by a timer; a pending timer also keeps the object from falling asleep on it. */
  #settle(nowMs: number): void {
    const waitMs = this.#channel.hub.settle(nowMs);
    if (waitMs === undefined || this.#flushTimer !== undefined) return;
    this.#flushTimer = setTimeout(() => {
      this.#flushTimer = undefined;
      this.#settle(Date.now());
    }, waitMs);
  }

  /** Finds the sockets whose client fell silent: no alarm does, where clients do the pinging (rule K4). */
  #sweep(nowMs: number, exactly: boolean): void {
    if (!exactly && nowMs - this.#sweptAtMs < this.#config.client.pingIntervalMs) return;
    this.#sweptAtMs = nowMs;
    for (const { session } of this.#clients.values()) session.tick(false, nowMs);
  }

  /** Sets the alarm for what is due next: in a fresh instance for everybody, afterwards for whoever changed. */
  async #schedule(nowMs: number, changed?: Session): Promise<void> {
    this.#hadStorage ||= !this.#channel.storesNothing;
    let dueMs = this.#channel.cleanupDueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    if (changed !== undefined) dueMs = Math.min(dueMs, changed.dueAtMs);
    if (!this.#allScheduled) {
      this.#allScheduled = true;
      for (const { session } of this.#clients.values()) dueMs = Math.min(dueMs, session.dueAtMs);
    }
    if (!this.#alarms.covers(dueMs)) await this.#alarms.atMost(dueMs);
  }

  /**
   * Gives back the storage that nothing lies in any more (rule H6). What a namespace stored that has left the configuration
   * stays as long as the others' would: the namespace may come back.
   */
  async #deleteLeftovers(nowMs: number): Promise<void> {
    if (!this.#hadStorage) return;
    const { historyMetaTtlMs } = this.#config.channel.withoutNamespace;
    const endsAtMs = this.#known ? nowMs : storedAtMs(this.sql) + historyMetaTtlMs;
    if (endsAtMs > nowMs) {
      await this.#alarms.atMost(endsAtMs);
      return;
    }
    await this.ctx.storage.deleteAll();
    this.#hadStorage = false;
  }

  /** A socket that we closed makes room at once; one whose client never answers the close still takes memory (rule B5). */
  #hasRoom(): boolean {
    const { connectionLimit } = this.#config.client;
    const socketsMax = Math.min(
      connectionLimit * limits.socketsPerConnection,
      limits.connectionsMax,
    );
    if (this.#clients.size >= socketsMax) return false;
    let open = 0;
    for (const { session } of this.#clients.values()) if (!session.closed) open++;
    return open < connectionLimit;
  }
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

const jsonProtocol = "centrifuge-json";

const publishes = ({ method }: { readonly method: string }): boolean => method === "publish";
const asksPresence = ({ method }: ChannelCommand): boolean => method.startsWith("presence");

/** For a channel that the configuration doesn't know: there is nothing, and nothing is kept. */
const noStorage: Sql = {
  rows: () => [],
  run: () => {
    throw new Error("A channel of an unknown namespace must not write");
  },
  transaction: (work) => work(),
};

/** Eight letters, as in Centrifugo's memory engine. */
function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => letters.charAt(byte % letters.length)).join("");
}

/** 64 characters would divide 256 evenly; the slight bias of 52 does no harm to a value that only has to be new. */
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
