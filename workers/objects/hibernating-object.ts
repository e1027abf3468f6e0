import { DurableObject } from "cloudflare:workers";
import { partsOf } from "../../src/config/name-parts.ts";
import type { Config } from "../../src/config/config.ts";
import { Backlog } from "../../src/hub/backlog.ts";
import { AlarmSchedule } from "../platform/alarm-schedule.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import type { TokenVerifier } from "../platform/token-verifier.ts";
import type { SessionSecrets } from "../platform/session-secrets.ts";
import type { WebhookSigner } from "../platform/webhook-signature.ts";
import type { CarriedOut, NumberedOrder } from "../../src/contract/user-order.ts";
import type { HeldConnections } from "../../src/contract/connection-state.ts";
import { eventObject } from "../../src/contract/object-names.ts";
import { isTold } from "../../src/events/event.ts";
import type { HookName } from "../../src/contract/hook-call.ts";
import { type HookCall, Hooks } from "../../src/hooks/hooks.ts";
import { NamedChannels } from "../../src/session/named-channels.ts";
import type { Session } from "../../src/session/session.ts";
import type { ObjectState, StateQuery } from "../../src/contract/object-state.ts";
import type { TrailAnswer, TrailQuery } from "../../src/contract/trail.ts";
import type { OnlineUsers } from "../../src/contract/user-status.ts";
import { ObjectMetrics } from "./object-metrics.ts";
import type { Refusal } from "../../src/access/refusal.ts";
import { noteRefusal } from "../platform/refusal-log.ts";
import { Listing } from "../../src/users/listing.ts";
import { KnownDeltas } from "../../src/delta/delta-chain.ts";
import { limits } from "../../src/limits.ts";
import { version } from "../../src/version.ts";
import { askBackend, listNode } from "./calls.ts";
import type { ClientSockets } from "./client-sockets.ts";
import { EventDelivery } from "./event-delivery.ts";
import type { EventKind } from "./event-counts.ts";
import type { KindTold, ObjectTrail } from "./object-trail.ts";
import { ObjectUsers } from "./object-users.ts";

/**
 * The common part of both kinds of objects: they hold clients' sockets, hibernate between events, and are woken by a
 * frame, a call or the alarm. After every event they settle, which sends what the event collected, and set the alarm
 * for what is due next. Nothing here survives hibernation: the constructor makes all of it again, from SQLite and the
 * sockets' attachments (rules S1 to S4).
 *
 * Members for the two classes are fields, because the platform lets every holder of a stub call an object's methods.
 */
export abstract class HibernatingObject extends DurableObject<Env> {
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  /** The object's trail, for those who ask (rule Y1). */
  protected abstract readonly remembered: ObjectTrail;
  /** Calls made to other objects since the object woke; tests read it. */
  callsMade = 0;
  /**
   * Those that metrics count at the called object: they may be made after this one has handed on its counts (rule J7).
   */
  protected callsCountedByCalled = 0;
  /** Absent where nothing is counted (rule J1). */
  protected readonly metrics: ObjectMetrics | undefined;
  protected readonly config: Config;
  protected readonly verifier: TokenVerifier;
  /** Signs requests to backends. */
  readonly #signer: WebhookSigner;
  readonly #secrets: SessionSecrets;
  protected readonly alarms: AlarmSchedule;
  protected abstract readonly sockets: ClientSockets;
  /** The object's name among all objects, as clients' posts and users' homes know it (docs/protocol.md 4.3). */
  protected abstract readonly node: string;
  /** The users of the connections. */
  readonly #users: ObjectUsers;
  /** The backlog of the sockets together (rule B3). */
  protected readonly backlog = new Backlog({
    sockets: () => this.sockets.clients,
    nowMs: () => Date.now(),
  });
  /** Asks backends for the sessions; absent where the configuration has no hooks. */
  protected readonly hooks: { readonly hooks?: Hooks };
  /** When this instance began, ms since 1970. */
  protected readonly awakeSinceMs = Date.now();
  /** Logs a refusal, and counts it (rule A13). */
  protected readonly refused = (refusal: Refusal): void => {
    this.metrics?.refused(refusal, Date.now());
    this.remembered.refused(refusal);
    noteRefusal(refusal, this.node);
  };
  /** Whether the directory lists the object. */
  protected readonly isListed = (): boolean => this.#listing.listed;
  readonly #listing = new Listing({
    wasListed: () => this.#someSession((session) => session.identity.listed === true),
    hasConnections: () => this.#someSession(({ hasConnected }) => hasConnected),
    list: (done) => void this.#list(done),
  });
  /** Whether the directory may have to list the object. Once it has, no event looks at that any more. */
  #mayBeUnlisted = true;
  /** The object's events for a backend; undefined where none are sent (section E). */
  protected abstract readonly events: EventDelivery | undefined;
  #awaitsTurn = false;
  /** Since when frames are on their way, ms since 1970; undefined while none is, and without metrics. */
  #sendingSinceMs: number | undefined;

  /** The kind of object, as metrics call it. */
  protected abstract readonly kind: "channel" | "gateway";

  /** Whether the object is that of a channel which has subscribers. */
  protected abstract readonly isOccupied: () => boolean;

  /** Starts to send what was collected; calls {@link sendInTurns} if a frame is on its way then. */
  protected abstract readonly settle: (nowMs: number) => void;

  /** Sends the next slice of a frame that is on its way. */
  protected abstract readonly sendSlice: () => void;

  /** When the alarm has to ring, apart from what the sockets have due: ms since 1970; Infinity for never. */
  protected abstract readonly dueAtMs: (nowMs: number) => number;

  /** The answers of the kind of object about the way of a publication, and about itself. */
  protected abstract readonly told: KindTold;

  /** Does what is due when the alarm rings, apart from the sockets' part, and settles. */
  protected abstract readonly onAlarm: (nowMs: number) => Promise<void>;

  /** @throws when the Worker's configuration is invalid */
  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const configuration = configurationOf(env);
    if (configuration.outcome === "unconfigured")
      throw new Error(configuration.problems.join("\n"));
    this.config = configuration.config;
    this.verifier = configuration.verifier;
    const { events } = configuration.config;
    this.#users = new ObjectUsers({
      config: this.config,
      homes: env.USERS,
      node: () => this.node,
      sessions: () => this.sockets.sessions(),
      sweep: (nowMs) => this.sockets.sweep(nowMs, true),
      called: () => {
        this.callsMade++;
      },
      later: this.later,
      endEvent: this.endEvent,
    });
    this.#signer = configuration.hookSigner;
    this.#secrets = configuration.sessions;
    const asksBackends = configuration.config.hooks.targets.size > 0;
    this.hooks = asksBackends
      ? { hooks: new Hooks((...call) => void this.#askBackend(...call)) }
      : {};
    this.alarms = new AlarmSchedule(context.storage);
    this.sql = new ObjectSql(context.storage);
    this.metrics = configuration.config.prometheus.counts
      ? new ObjectMetrics(this.#measured(), this.awakeSinceMs)
      : undefined;
    // Once the alarm is known, it is set in the commit in which an event is written, so a crash can't come between them.
    if (events !== undefined) void context.blockConcurrencyWhile(() => this.alarms.read());
  }

  #measured(): ConstructorParameters<typeof ObjectMetrics>[0] {
    return {
      channels: this.config.channel,
      kind: () => this.kind,
      node: () => this.node,
      collectors: () => this.env.METRICS,
      billed: () => ({
        rowsWritten: this.sql.rowsWritten,
        callsMade: this.callsMade - this.callsCountedByCalled,
      }),
      sessions: () => this.sockets.sessions(),
      holdsSockets: () => !this.sockets.empty,
      isOccupied: () => this.isOccupied(),
      later: this.later,
    };
  }

  /** The setup that the sockets of an object of either kind share. */
  protected readonly ofSockets = () => ({
    backlog: this.backlog,
    listed: this.isListed,
    newSecret: () => this.#secrets.make(this.node),
    endEvent: this.endEvent,
  });

  /** The setup that the sessions of an object of either kind share. */
  protected readonly ofSessions = () => ({
    config: this.config,
    backlog: this.backlog,
    knownDeltas: new KnownDeltas(),
    namedChannels: new NamedChannels(this.config.client.channelLimit),
    version,
    node: this.node,
    trail: this.remembered.clients,
    later: this.later,
    refused: this.refused,
    ...this.#users.ofSessions,
    ...this.hooks,
    ...this.metrics?.ofSessions,
    ...this.events?.ofSessions,
  });

  /** Takes over a socket that the edge let through. */
  override fetch(request: Request): Promise<Response> {
    this.happened("upgrade");
    return this.sockets.accept(request);
  }

  /** One of the calls of `src/contract/object-calls.ts`, which objects of both kinds offer. */
  post(session: string, frame: string | Uint8Array): Promise<void> {
    this.happened("frame");
    return this.sockets.post(session, frame);
  }

  carryOut(user: string, orders: readonly NumberedOrder[]): Promise<CarriedOut> {
    this.happened("users");
    return this.#users.carryOut(user, orders);
  }

  clientsOf(users: readonly string[]): Promise<readonly string[]> {
    this.happened("users");
    return this.#users.clientsOf(users);
  }

  connections(key: string): Promise<HeldConnections> {
    this.happened("users");
    return this.#users.connections(key);
  }

  online(users: readonly string[]): Promise<OnlineUsers> {
    this.happened("users");
    return this.#users.online(users);
  }

  async trail(query: TrailQuery): Promise<TrailAnswer> {
    const told = this.told.trail(query, await this.#looked());
    return this.remembered.trail(this.node, query, told, this.sockets.clients);
  }

  async inspect(query: StateQuery): Promise<ObjectState> {
    const told = this.told.state(query, await this.#looked());
    return this.remembered.state(this.node, query, told, this.sockets.clients, this.ctx.storage);
  }

  /** Somebody asks how the object is: closes silent connections first. @returns the time, ms since 1970 */
  async #looked(): Promise<number> {
    this.happened("question");
    const nowMs = Date.now();
    this.sockets.sweep(nowMs, true);
    await this.endEvent(nowMs);
    return nowMs;
  }

  async eventsAfter(since: number, limit: number): Promise<readonly string[]> {
    return this.events?.outbox.after(since, limit, Date.now()) ?? [];
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    this.happened("frame");
    return this.sockets.message(socket, message);
  }

  override webSocketClose(...closing: SocketClosing): Promise<void> {
    this.happened("close");
    return this.sockets.closed(...closing);
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    this.happened("close");
    return this.sockets.failed(socket);
  }

  override async alarm(): Promise<void> {
    this.alarms.rang();
    this.happened("alarm");
    this.metrics?.alarmRang();
    const nowMs = Date.now();
    const abandoned = this.sockets.onlyClosed;
    if (abandoned) this.sockets.forget();
    this.sockets.tick(nowMs);
    this.events?.outbox.deleteExpired(nowMs);
    await this.onAlarm(nowMs);
    await this.schedule(nowMs);
    if (abandoned) await this.#drop();
  }

  /**
   * Drops the sockets of clients that never answered their close, by ending this instance: nothing else ends them, and
   * each takes two file descriptors and memory (rule B11). No other socket is left, and the next event makes the object
   * again.
   */
  async #drop(): Promise<void> {
    await this.ctx.storage.sync();
    // The alarm has to end first, or the platform would repeat it.
    setTimeout(() => this.ctx.abort("its clients didn't answer their close"), 0);
  }

  /** Notes an event, for those who ask what the object wakes for. */
  protected readonly happened = (kind: EventKind): void => this.remembered.happened(kind);

  /** Whether something is true of an open session. */
  #someSession(isSo: (session: Session) => boolean): boolean {
    for (const session of this.sockets.sessions())
      if (!session.closed && isSo(session)) return true;
    return false;
  }

  #checkListing(nowMs: number): void {
    if (this.config.client.users.enabled) this.#listing.check(nowMs);
    this.#mayBeUnlisted = this.config.client.users.enabled && !this.#listing.listed;
  }

  /** Has the directory list the object, and the open sessions store it (rule U22). */
  async #list(done: (isListed: boolean) => void): Promise<void> {
    this.callsMade++;
    const isListed = await listNode(this.env.USERS, this.node);
    done(isListed);
    if (this.#listing.listed) {
      for (const session of this.sockets.sessions())
        if (!session.closed) session.change({ listed: true });
    }
    await this.endEvent(Date.now());
  }

  /**
   * Whether the object still holds connections, for the directory, which forgets it otherwise. A socket whose client
   * hasn't connected counts, too: it may store that the object is listed.
   */
  protected readonly stillListed = (): boolean => {
    const left = this.#someSession(() => true);
    if (!left) {
      this.#listing.forgotten();
      this.#mayBeUnlisted = true;
    }
    return left;
  };

  /**
   * The delivery of the object's events; undefined if the backend isn't told of any here.
   *
   * @param node    of the object
   * @param channel whose object it is; absent for a gateway
   */
  protected readonly deliveryOf = (node: string, channel?: string): EventDelivery | undefined => {
    const { events } = this.config;
    if (events === undefined) return undefined;
    const namespaceOf = (name: string): string =>
      partsOf(name, this.config.channel).namespace ?? "";
    const isConcerned =
      connectionTypes.some((type) => isTold(events, type)) ||
      (channel !== undefined &&
        channelTypes.some((type) => isTold(events, type, namespaceOf(channel))));
    if (!isConcerned) return undefined;
    return new EventDelivery({
      events,
      sql: this.sql,
      object: eventObject(node),
      env: this.env,
      signer: this.#signer,
      sessions: () => this.sockets.clients.flatMap(({ session }) => session.told ?? []),
      namespaceOf,
      called: () => {
        this.callsMade++;
      },
      ended: this.schedule,
    });
  };

  #checkMetrics(metrics: ObjectMetrics, nowMs: number): void {
    if (this.#sendingSinceMs !== undefined && !this.#awaitsTurn) {
      metrics.counts.observe(
        "dormouse_fan_out_seconds",
        Math.max(0, nowMs - this.#sendingSinceMs) / 1_000,
        {
          kind: this.kind,
        },
      );
      this.#sendingSinceMs = undefined;
    }
    metrics.check(nowMs);
  }

  async #askBackend(...[question, timeoutMs, done]: Parameters<HookCall>): Promise<void> {
    this.callsMade++;
    const { HookEntrypoint } = this.ctx.exports;
    const askedMs = Date.now();
    const reply = await askBackend(HookEntrypoint, question, timeoutMs);
    this.metrics?.backendAnswered(question, reply, Math.max(0, Date.now() - askedMs) / 1_000);
    const bytes = question.body.length + (reply.outcome === "answered" ? reply.body.length : 0);
    try {
      await this.carryOutAnswer(question.hook, bytes, (isBusy) => {
        done(isBusy ? { outcome: "busy" } : reply, Date.now());
      });
    } catch (error) {
      console.error(`A hook failed: ${error instanceof Error ? error.name : "unknown error"}`);
    }
  }

  /**
   * Carries out what follows on a backend's answer, and ends the event.
   *
   * @param bytes of the question and the answer
   * @param work called once, synchronously; `isBusy` says that too much waits already to publish anything (rule B6)
   */
  protected carryOutAnswer(
    _hook: HookName,
    _bytes: number,
    work: (isBusy: boolean) => void,
  ): Promise<void> {
    work(false);
    return this.endEvent(Date.now());
  }

  /**
   * Gives the event loop a turn, and sends the next slice; {@link settle} asks for the next turn (rules F2, S3).
   *
   * @param isCollecting whether something is collected behind the frame; then the loop gets several turns
   */
  protected readonly sendInTurns = (isCollecting: boolean): void => {
    if (this.#awaitsTurn) return;
    this.#awaitsTurn = true;
    if (this.metrics !== undefined) this.#sendingSinceMs ??= Date.now();
    this.#sendAfter(isCollecting ? limits.sliceTurns : 1);
  };

  #sendAfter(turns: number): void {
    if (turns > 1) {
      setTimeout(() => this.#sendAfter(turns - 1), 0);
      return;
    }
    this.later(0, () => {
      this.#awaitsTurn = false;
      this.sendSlice();
    });
  }

  /**
   * Does the work after so many ms, and ends the event. After 0 ms the event loop has had a turn. Meanwhile the object
   * can't hibernate.
   */
  protected readonly later = (waitMs: number, work: () => void): void => {
    setTimeout(() => {
      try {
        work();
      } finally {
        // The work may have closed slow connections, and their leaves are announced. Also after a bug, or a frame that is
        // on its way would stand still for ever.
        void this.endEvent(Date.now());
      }
    }, waitMs);
  };

  /** Ends an event: sends what the event collected, and sets the alarm. */
  protected readonly endEvent = async (nowMs: number): Promise<void> => {
    this.settle(nowMs);
    await this.schedule(nowMs);
  };

  /**
   * Sets the alarm for what is due next: in a fresh instance for all sockets, afterwards for those that changed. Has the
   * directory list the object, if it doesn't yet.
   */
  protected readonly schedule = async (nowMs: number): Promise<void> => {
    if (this.#mayBeUnlisted && !this.sockets.empty) this.#checkListing(nowMs);
    if (this.metrics !== undefined) this.#checkMetrics(this.metrics, nowMs);
    this.events?.proceed(nowMs);
    const dueMs = Math.min(
      this.dueAtMs(nowMs),
      this.sockets.takeDueAtMs(nowMs),
      this.events?.alarmAtMs(nowMs) ?? Number.POSITIVE_INFINITY,
    );
    if (!this.alarms.covers(dueMs)) await this.alarms.atMost(dueMs);
  };
}

/** What the runtime tells of a close; `wasClean` is false if the client sent no close frame. */
export type SocketClosing = [socket: WebSocket, code: number, reason: string, wasClean: boolean];

/** The types of events that any object with connections may have. */
const connectionTypes = ["connected", "subscribed"] as const;

/** Those that only the object of a channel has. */
const channelTypes = ["publication", "channel_occupied"] as const;
