import type { Config } from "../config/config.ts";
import { Backlog } from "../hub/backlog.ts";
import type { CarriedOut, HeldKeys, NumberedOrder } from "../contract/user-order.ts";
import type { HeldConnections } from "../contract/connection-state.ts";
import type { Handover } from "../contract/handover.ts";
import { shardOf } from "../contract/object-names.ts";
import type { CarriedReport } from "../contract/channel-call.ts";
import { joinedMethods } from "./client-methods.ts";
import type { AskBackend, EventKind, ObjectPart, PartedObject } from "./part.ts";
import { NamedChannels } from "../session/named-channels.ts";
import type { Session } from "../session/session.ts";
import type { OnlineUsers } from "../contract/user-status.ts";
import type { Refusal } from "../access/refusal.ts";
import { Listing } from "../users/listing.ts";
import { KnownDeltas } from "../delta/delta-chain.ts";
import { subscriptionTypes } from "../features/index.ts";
import { limits } from "../limits.ts";
import { elapsed } from "../moment.ts";
import { version } from "../version.ts";
import { Arrivals } from "./arrivals.ts";
import { AlarmSchedule } from "./alarm-schedule.ts";
import type { Accepted, ClientSockets } from "./client-sockets.ts";
import { ObjectUsers } from "./object-users.ts";
import type { Platform, PlatformSocket } from "./platform.ts";

/**
 * The common part of both kinds of objects: they hold clients' sockets, hibernate between events, and are woken by a
 * frame, a call or the alarm. After every event they settle, which sends what the event collected, and set the alarm
 * for what is due next. Nothing here survives hibernation: the constructor makes all of it again, from SQLite and the
 * sockets' attachments (rules S1 to S4).
 */
export abstract class ObjectHost implements PartedObject {
  readonly platform: Platform;
  /** Calls made to other objects since the object woke; tests read it. */
  callsMade = 0;
  /**
   * Those that metrics count at the called object: they may be made after this one has handed on its counts (rule J7).
   */
  protected callsCountedByCalled = 0;
  /** What features add to the object. */
  protected abstract readonly parts: readonly ObjectPart[];
  readonly config: Config;
  protected readonly alarms: AlarmSchedule;
  abstract readonly sockets: ClientSockets;
  /** The object's name among all objects, as clients' posts and users' homes know it (docs/protocol.md 4.3). */
  abstract readonly node: string;
  /** The users of the connections. */
  readonly #users: ObjectUsers;
  /** The backlog of the sockets together (rule B3). */
  readonly backlog: Backlog;
  /** When this instance began, ms since 1970. */
  readonly awakeSinceMs: number;
  /** Logs a refusal, and counts it (rule A13). */
  readonly #refused = (refusal: Refusal): void => {
    for (const part of this.parts) part.refused?.(refusal, this.platform.nowMs());
    this.platform.noteRefusal(refusal, this.node);
  };
  /** Whether the directory lists the object. */
  readonly #isListed = (): boolean => this.#listing.listed;
  readonly #listing = new Listing({
    wasListed: () => this.#someSession((session) => session.identity.listed === true),
    hasConnections: () => this.#someSession(({ hasConnected }) => hasConnected),
    list: (done) => this.#list(done),
  });
  /** Whether the directory may have to list the object. Once it has, no event looks at that any more. */
  #mayBeUnlisted = true;
  #awaitsTurn = false;
  /** Lets arrivals in, also while a frame is on its way. */
  protected readonly arrivals = new Arrivals({
    nowMs: () => this.platform.nowMs(),
    isSending: () => this.#awaitsTurn,
    later: (waitMs, work) => this.later(waitMs, work),
  });
  /** Since when frames are on their way, ms since 1970; undefined while none is. */
  #sendingSinceMs: number | undefined;

  /** The kind of object. */
  abstract readonly kind: "channel" | "gateway";

  /** The number of channels that have subscribers on this object. */
  abstract channelCount(): number;

  /** Starts to send what was collected; calls {@link sendInTurns} if a frame is on its way then. */
  protected abstract settle(nowMs: number): void;

  /** Sends the next slice of a frame that is on its way. */
  protected abstract sendSlice(): void;

  /** When the alarm has to ring, apart from what the sockets have due: ms since 1970; Infinity for never. */
  protected abstract dueAtMs(nowMs: number): number;

  /** Does what is due when the alarm rings, apart from the sockets' part, settles, and calls back. */
  protected abstract onAlarm(nowMs: number, done: () => void): void;

  constructor(platform: Platform, config: Config) {
    this.platform = platform;
    this.config = config;
    this.awakeSinceMs = platform.nowMs();
    this.backlog = new Backlog({
      sockets: () => this.sockets.everyClient,
      nowMs: () => platform.nowMs(),
    });
    this.#users = new ObjectUsers({
      config,
      platform,
      node: () => this.node,
      sessions: () => this.sockets.everyClient.map(({ session }) => session),
      sweep: (nowMs) => this.sockets.sweep(nowMs, true),
      called: this.called,
      later: this.later,
      endEvent: this.endEvent,
    });
    this.alarms = new AlarmSchedule(platform);
  }

  /** Counts a call to another object. */
  readonly called = (calls = 1): void => {
    this.callsMade += calls;
  };

  get knownChannel(): string | undefined {
    return undefined;
  }

  get billedCalls(): number {
    return this.callsMade - this.callsCountedByCalled;
  }

  part<Part extends ObjectPart>(wanted: abstract new (...made: never[]) => Part): Part | undefined {
    return this.parts.find((part): part is Part => part instanceof wanted);
  }

  /** When the job came that is being carried out, ms since 1970; undefined outside of a job. */
  jobAddedAtMs(): number | undefined {
    return undefined;
  }

  /** The setup that the sockets of an object of either kind share. */
  protected readonly ofSockets = () => ({
    platform: this.platform,
    config: this.config,
    backlog: this.backlog,
    listed: this.#isListed,
    node: () => this.node,
    later: this.later,
    endEvent: this.endEvent,
    arrivals: this.arrivals,
  });

  /** The setup that the sessions of an object of either kind share. */
  protected readonly ofSessions = () => {
    const own = this.parts.flatMap(({ ofSessions }) => ofSessions?.clientMethods ?? []);
    const clientMethods = joinedMethods(own);
    return { ...this.#ofSessions(), ...(clientMethods && { clientMethods }) };
  };

  readonly #ofSessions = () => ({
    config: this.config,
    backlog: this.backlog,
    subscriptionTypes,
    knownDeltas: new KnownDeltas(),
    namedChannels: new NamedChannels(this.config.client.channelLimit),
    version,
    node: this.node,
    later: this.later,
    refused: this.#refused,
    ...this.#users.ofSessions,
    ...partsOfSetup(this.parts, ({ ofSessions }) => ofSessions),
  });

  /**
   * A socket is about to be handed over.
   *
   * @param done called once: {@link accept} may be called, now and not later; or too many arrive
   */
  arrive(done: (outcome: "enters" | "too-many") => void): void {
    this.arrivals.arrive({
      bytes: limits.arrivalBytes,
      isInside: false,
      enter: () => done("enters"),
      refuse: () => done("too-many"),
    });
  }

  /** Takes over a socket that the edge let through, see {@link ClientSockets.accept}. */
  accept(
    handover: Handover,
    secret: string | undefined,
    open: (tags: readonly string[]) => PlatformSocket,
  ): Accepted {
    this.happened("upgrade");
    return this.sockets.accept(handover, secret, open);
  }

  /** A client has sent a frame, or a keep-alive text that the platform didn't answer. */
  message(
    socket: PlatformSocket,
    message: string | ArrayBuffer | Uint8Array,
    done: () => void,
  ): void {
    this.happened("frame");
    this.sockets.message(socket, message, done);
  }

  /** A client has closed its socket. `wasClean` is false if it sent no close frame. */
  closed(socket: PlatformSocket, code: number, reason: string, wasClean: boolean): void {
    this.happened("close");
    this.sockets.closed(socket, code, reason, wasClean);
  }

  /** A client has broken the WebSocket protocol. */
  failed(socket: PlatformSocket): void {
    this.happened("close");
    this.sockets.failed(socket);
  }

  // What follows are calls of src/contract/object-calls.ts, which objects of both kinds offer.
  post(session: string, frame: string | Uint8Array, done: () => void): void {
    this.happened("frame");
    this.sockets.post(session, frame, done);
  }

  carryOut(
    user: string,
    orders: readonly NumberedOrder[],
    done: (carriedOut: CarriedOut) => void,
  ): void {
    this.happened("users");
    this.#users.carryOut(user, orders, done);
  }

  clientsOf(users: readonly string[]): readonly string[] {
    this.happened("users");
    return this.#users.clientsOf(users);
  }

  connections(key: string): HeldConnections {
    this.happened("users");
    return this.#users.connections(key);
  }

  online(users: readonly string[]): OnlineUsers {
    this.happened("users");
    return this.#users.online(users);
  }

  heldOf(home: string): HeldKeys {
    this.happened("users");
    return this.#users.heldOf(home);
  }

  looked(): number {
    this.happened("question");
    const nowMs = this.platform.nowMs();
    this.sockets.sweep(nowMs, true);
    this.endEvent(nowMs);
    return nowMs;
  }

  eventsAfter(since: number, limit: number): readonly string[] {
    const nowMs = this.platform.nowMs();
    return this.parts.flatMap((part) => part.eventsAfter?.(since, limit, nowMs) ?? []);
  }

  /** The alarm rings. It counts as rung once its work has called back. */
  alarm(done: () => void): void {
    this.alarms.rang();
    this.happened("alarm");
    const nowMs = this.platform.nowMs();
    const isAbandoned = this.sockets.onlyClosed;
    if (isAbandoned) this.sockets.forget();
    this.sockets.tick(nowMs);
    for (const part of this.parts) part.rang?.(nowMs);
    this.onAlarm(nowMs, () => {
      this.schedule(nowMs);
      if (isAbandoned) this.#drop();
      done();
    });
  }

  /**
   * Drops the sockets of clients that never answered their close, by ending this instance: nothing else ends them, and
   * each takes two file descriptors and memory (rule B11). No other socket is left, and the next event makes the object
   * again.
   */
  #drop(): void {
    this.platform.abandon("its clients didn't answer their close");
  }

  readonly happened = (kind: EventKind): void => {
    for (const part of this.parts) part.happened?.(kind);
  };

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
  #list(done: (isListed: boolean) => void): void {
    this.called();
    const shard = shardOf(this.node);
    this.platform.call("list", shard, [this.node], limits.objectAnswerMs, (reply) => {
      done(reply.outcome === "answered");
      if (this.#listing.listed) {
        for (const session of this.sockets.sessions())
          if (!session.closed) session.change({ listed: true });
      }
      this.endEvent(this.platform.nowMs());
    });
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

  /** What an answer carries, from the first part that has something (rule J7). */
  protected forAnswer(nowMs: number): CarriedReport | undefined {
    for (const part of this.parts) {
      const counted = part.forAnswer?.(nowMs);
      if (counted !== undefined) return counted;
    }
    return undefined;
  }

  /** Ends an event for the parts. */
  protected readonly endParts = (nowMs: number): void => {
    const sinceMs = this.#sendingSinceMs;
    if (sinceMs !== undefined && !this.#awaitsTurn) {
      const seconds = Math.max(0, nowMs - sinceMs) / 1_000;
      for (const part of this.parts) part.sent?.(seconds);
      this.#sendingSinceMs = undefined;
    }
    for (const part of this.parts) part.ended?.(nowMs);
  };

  readonly askBackend: AskBackend = (question, timeoutMs, done) => {
    const { platform } = this;
    this.called();
    const askedMs = platform.nowMs();
    platform.askBackend(question, timeoutMs, (reply) => {
      const seconds = Math.max(0, platform.nowMs() - askedMs) / 1_000;
      for (const part of this.parts) part.backendAnswered?.(question, reply, seconds);
      const bytes = question.body.length + (reply.outcome === "answered" ? reply.body.length : 0);
      this.carryOutAnswer(question.hook, bytes, (isBusy) =>
        platform.guard(() => done(isBusy ? { outcome: "busy" } : reply, platform.nowMs())),
      );
    });
  };

  /**
   * Carries out what follows on a backend's answer, and ends the event.
   *
   * @param bytes of the question and the answer
   * @param work  called once, and throws nothing; `isBusy` says that too much waits already to publish anything (rule B6)
   */
  protected carryOutAnswer(_hook: string, _bytes: number, work: (isBusy: boolean) => void): void {
    work(false);
    this.endEvent(this.platform.nowMs());
  }

  /**
   * Gives the event loop a turn, and sends the next slice; {@link settle} asks for the next turn (rules F2, S3).
   *
   * @param isCollecting whether something is collected behind the frame; then the loop gets several turns
   */
  protected readonly sendInTurns = (isCollecting: boolean): void => {
    if (this.#awaitsTurn) return;
    this.#awaitsTurn = true;
    this.#sendingSinceMs ??= this.platform.nowMs();
    this.#sendAfter(isCollecting ? limits.sliceTurns : 1, this.platform.nowMs());
  };

  #sendAfter(turns: number, sinceMs: number): void {
    const hasTurns = turns > 1 && !elapsed(sinceMs, limits.sliceTurnsMs, this.platform.nowMs());
    if (hasTurns || this.arrivals.goBefore()) {
      this.platform.after(0, () => this.#sendAfter(turns - 1, sinceMs));
      return;
    }
    this.later(0, () => {
      this.#awaitsTurn = false;
      const count = slicesAfter(Math.abs(this.platform.nowMs() - sinceMs));
      for (let slice = 0; slice < count; slice++) this.sendSlice();
    });
  }

  /**
   * Does the work after so many ms, and ends the event. After 0 ms the event loop has had a turn. Meanwhile the object
   * can't hibernate.
   */
  readonly later = (waitMs: number, work: () => void): void => {
    this.platform.after(waitMs, () => {
      this.platform.guard(work);
      // The work may have closed slow connections, and their leaves are announced. Also after a bug, or a frame that is
      // on its way would stand still for ever.
      this.endEvent(this.platform.nowMs());
    });
  };

  /** Ends an event: sends what the event collected, and sets the alarm. */
  readonly endEvent = (nowMs: number): void => {
    this.settle(nowMs);
    if (!this.#awaitsTurn) this.arrivals.open();
    this.schedule(nowMs);
  };

  /**
   * Sets the alarm for what is due next: in a fresh instance for all sockets, afterwards for those that changed. Has the
   * directory list the object, if it doesn't yet.
   */
  readonly schedule = (nowMs: number): void => {
    if (this.#mayBeUnlisted && !this.sockets.empty) this.#checkListing(nowMs);
    this.endParts(nowMs);
    let dueMs = Math.min(this.dueAtMs(nowMs), this.sockets.takeDueAtMs(nowMs));
    for (const part of this.parts)
      if (part.dueAtMs !== undefined) dueMs = Math.min(dueMs, part.dueAtMs(nowMs));
    this.alarms.atMost(dueMs);
  };
}

/** The slices that are sent at once, when others had the thread for so long since the last one (rule F12). */
function slicesAfter(othersMs: number): number {
  const { slicesAtOnceMax, othersMsPerSlice } = limits;
  return Math.max(1, Math.min(slicesAtOnceMax, Math.floor(othersMs / othersMsPerSlice)));
}

/** What the parts add to one setup, together. */
export function partsOfSetup<Setup extends object>(
  parts: readonly ObjectPart[],
  ofPart: (part: ObjectPart) => Partial<Setup> | undefined,
): Partial<Setup> {
  return Object.assign({}, ...parts.map(ofPart));
}
