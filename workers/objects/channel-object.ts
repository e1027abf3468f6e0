import {
  type ChannelAnswers,
  type ChannelOperation,
  operationBytes,
  traceOf,
} from "../../src/contract/channel-call.ts";
import type { HookName } from "../../src/contract/hook-call.ts";
import type {
  PresenceKind,
  PresenceTold,
  PresenceToldReply,
} from "../../src/contract/presence-call.ts";
import type { ChannelCalls } from "../../src/contract/object-calls.ts";
import { executeAll } from "../../src/api/execute.ts";
import { channelState, ownSubscribers, toldByChannel } from "../../src/session/told-by-channel.ts";
import { Channel } from "../../src/channel/channel.ts";
import { CommitSharing } from "../../src/channel/commit-sharing.ts";
import { presenceSetup } from "../../src/channel/channel-setup.ts";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import { type OwnTracking, ownTracking } from "../../src/session/own-tracking.ts";
import { SingleChannel } from "../../src/session/single-channel.ts";
import type { GatheredPresence } from "../../src/channel/presence.ts";
import type { PresenceAnswer } from "../../src/protocol/reply.ts";
import { SharedPresence } from "../../src/channel/shared-presence.ts";
import type { Codec } from "../../src/protocol/codec.ts";
import { jsonCodec } from "../../src/protocol/json/codec.ts";
import type { Sql } from "../../src/sql.ts";
import { storedAtMs, storedTables } from "../../src/channel/stored-tables.ts";
import type { Subscriber } from "../../src/hub/subscriber.ts";
import { limits } from "../../src/limits.ts";
import { errorCodes } from "../../src/protocol/codes.ts";
import { replyToRequests } from "../../src/channel/relay-replies.ts";
import type { Delivery } from "../../src/channel/follower-progress.ts";
import type { OwnSubscribers } from "../../src/contract/listing.ts";
import {
  relayRequestBytes,
  type RelayReplies,
  type ChannelPresenceReply,
  type RelayRequest,
} from "../../src/contract/relay-request.ts";
import { Session } from "../../src/session/session.ts";
import { channelNode } from "../../src/contract/object-names.ts";
import { NextTimer } from "../platform/alarm-schedule.ts";
import type { Env } from "../platform/env.ts";
import { inSpan } from "../platform/spans.ts";
import { deliver, deliverPoll, gatherPresence } from "./calls.ts";
import { ClientSockets } from "./client-sockets.ts";
import type { EventDelivery } from "./event-delivery.ts";
import { CommitQueue, type JobOutcome, kindOf, type Overloaded } from "./commit-queue.ts";
import { HibernatingObject, type SocketClosing } from "./hibernating-object.ts";
import { PollDriver } from "./poll-driver.ts";
import { PresenceDriver } from "./presence-driver.ts";
import { type KindTold, ObjectTrail } from "./object-trail.ts";
import { elapsed } from "../../src/moment.ts";

/**
 * The object of one channel, which is named after it. It lends the platform (storage, sockets, alarm, time) to
 * `Channel` and to the sessions, which decide. All publications and reads go through the commit queue, in rounds of
 * three phases:
 *
 * ```text
 * jobs ─► 1 collect   one synchronous stretch: rows are written, hub and relay collect, replies are given
 *         2 commit    one storage.sync() for all jobs of the round; further jobs wait
 *         3 settle    the hub sends frames to sockets, the relay's batches go to gateways
 * ```
 *
 * The output gate holds back whatever leaves the object until the writes before it are durable (rule O2). The queue
 * calls back into this object, for each job and to settle. src/README.md has the whole picture.
 */
export class ChannelObject extends HibernatingObject implements ChannelCalls {
  readonly #channel: Channel;
  /** Whether the configuration has the channel's namespace. */
  readonly #known: boolean;
  readonly #queue: CommitQueue;
  readonly #presence: SharedPresence;
  /** Undefined unless the channel has presence maps, or is one. */
  readonly #presenceMaps: PresenceDriver | undefined;
  /** Undefined unless the channel is a shared poll. */
  readonly #polls: PollDriver | undefined;
  readonly #tracking: OwnTracking | undefined;
  /** Whether a call asked who is present: then silent connections are closed before that is answered (rule K4). */
  #sweepIsDue = false;
  protected override readonly sockets: ClientSockets;
  protected override readonly node: string;
  protected override readonly remembered = new ObjectTrail(limits.trailFramesMax);
  protected override readonly kind = "channel";
  protected override readonly events: EventDelivery | undefined;
  /** The trace of a publication that waits for the next commit; undefined if none belongs to one (rule X2). */
  #traceparent: string | undefined;
  readonly #retryTimer = new NextTimer(() => void this.endEvent(Date.now()));
  readonly #shareTimer = new NextTimer(() => this.#queue.waited());
  /** Writes an ephemeral map down once it is quiet (rule Z11). */
  readonly #restTimer = new NextTimer(() => {
    const nowMs = Date.now();
    this.#channel.map?.rest(nowMs);
    void this.endEvent(nowMs);
  });
  /** Whether the storage may hold tables, to be deleted once nothing is stored in them any more (rule H13). */
  #hadStorage: boolean;
  /** Whether the platform may keep something of an alarm that rang. */
  #hadAlarm = true;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const { config, verifier } = this;
    // Once the alarm is known, `schedule` sets it in the same stretch as a publication's row is written. So both are in
    // one commit, and a crash can't come between them (rule L4).
    void context.blockConcurrencyWhile(() => this.alarms.read());
    const name = context.id.name ?? "";
    this.node = channelNode(name);
    const resolved = resolveChannel(name, config.channel);
    this.#known = resolved.outcome === "resolved";
    const tables = storedTables(this.sql);
    this.#hadStorage = tables.size > 0;
    const nowMs = Date.now();
    this.events = this.#known ? this.deliveryOf(this.node, name) : undefined;
    const channel = new Channel({
      name,
      options: resolved.outcome === "resolved" ? resolved.options : config.channel.withoutNamespace,
      client: config.client,
      // A namespace that left the configuration may come back, so its storage is left alone.
      ...(this.#known ? { sql: this.sql, tables } : { sql: noStorage }),
      newEpoch,
      nowMs,
      instance: nowMs,
      frames: this.remembered.frames,
      ...presenceSetup(name, config.channel),
      ...this.metrics?.ofChannel(name),
      ...this.events?.ofChannel(name, () => this.#queue.jobAddedAtMs),
    });
    this.events?.watch(channel);
    this.#channel = channel;
    const commits = {
      settle: () => this.#afterCommit(Date.now()),
      committed: () => this.#commit(),
      full: () => channel.hub.full || channel.relay.full(Date.now()),
      wait: (waitMs: number | undefined) => this.#shareTimer.set(waitMs, Date.now()),
    };
    this.#queue = new CommitQueue(commits, new CommitSharing(channel));
    this.#presence = new SharedPresence({
      later: this.later,
      gather: (done) => void this.#gather(done),
      subscribers: () => this.#sweptSubscribers(),
    });
    this.#presenceMaps = this.#presenceDriver(channel);
    const { clients } = this.remembered;
    this.#tracking = channel.sharedPoll && ownTracking(channel, config);
    this.#polls = this.#pollDriver(channel);
    const told = [() => Date.now(), clients, this.#tracking] as const;
    const channels = new SingleChannel(channel, config.channel, this.#presence, ...told);
    const sessions = {
      ...this.ofSessions(),
      channels,
      channel: name,
      serverSubscriptions: false,
      storesRows: false,
    };
    this.sockets = new ClientSockets({
      ...this.ofSockets(),
      context,
      config,
      verifier,
      serverSubscriptions: false,
      channel: name,
      nearlyFull: () => false,
      newSession: (snapshot, connection) => new Session(snapshot, connection, sessions),
      commit: (bytes, carryOut) => this.#carryOutFrame(bytes, carryOut),
      later: this.later,
    });
  }

  // The calls' contract is in src/contract/object-calls.ts.
  async execute(commands: readonly ChannelOperation[], carries?: boolean): Promise<ChannelAnswers> {
    this.happened("api");
    const bytes = commands.reduce((sum, command) => sum + operationBytes(command), 0);
    const present = await this.#presenceFor(commands);
    if ((await this.#presenceMaps?.readyFor(commands)) === "failed") return busy;
    const traceparent = traceOf(commands);
    const kind = kindOf(commands);
    const job = (): ChannelAnswers => this.#carryOut(commands, present);
    const carriedOut = await (traceparent === undefined
      ? this.#queue.add(kind, bytes, job)
      : inSpan("publish", { traceparent, channel: this.#channel.name }, () =>
          this.#queue.add(kind, bytes, job),
        ));
    return this.#answered(carriedOut, carries);
  }

  async ask(
    gateway: string,
    requests: readonly RelayRequest[],
    carries?: boolean,
  ): Promise<RelayReplies> {
    this.happened("gateway");
    const bytes = requests.reduce((sum, request) => sum + relayRequestBytes(request), 0);
    if ((await this.#presenceMaps?.readyFor(requests)) === "failed") return busy;
    const kind = kindOf(requests);
    const carriedOut = await this.#queue.add(kind, bytes, (): RelayReplies => {
      const nowMs = Date.now();
      if (!this.#known) {
        const unknown = { outcome: "failed", error: errorCodes.unknownChannel } as const;
        return { outcome: "answers", answers: requests.map(() => unknown) };
      }
      // Only publications are refused: a leave must be announced, and missed publications can be read.
      const refused = kind === "publish" && this.#channel.hub.overloaded(nowMs);
      return {
        outcome: "answers",
        answers: replyToRequests(this.#channel, gateway, requests, nowMs, refused),
      };
    });
    return this.#answered(carriedOut, carries);
  }

  async presenceTold(told: PresenceTold): Promise<PresenceToldReply> {
    this.happened("presence");
    return this.#presenceMaps?.told(told) ?? { outcome: "left" };
  }

  async present(shown?: PresenceKind): Promise<ChannelPresenceReply> {
    this.happened("presence");
    if (!this.#known) return { outcome: "error", error: errorCodes.unknownChannel };
    if (shown !== undefined && this.#presenceMaps !== undefined) {
      this.sockets.sweep(Date.now(), true);
      return this.#presenceMaps.list(shown);
    }
    const answer = await this.#askPresence(undefined);
    if (answer.outcome === "failed") return { outcome: "error", error: answer.error };
    const { parts, incomplete } = answer.result;
    return { outcome: "present", clients: parts.flat(), complete: incomplete !== true };
  }

  async ownSubscribers(): Promise<OwnSubscribers> {
    this.happened("directory");
    const nowMs = Date.now();
    this.sockets.sweep(nowMs, true);
    const answer = { subscribers: this.#channel.hub.size, left: this.stillListed() };
    await this.endEvent(nowMs);
    return answer;
  }

  /**
   * A publish that a backend has allowed is a job like a frame that publishes. After a connect or a subscribe, commands
   * are carried out that waited for it, and may publish.
   */
  protected override async carryOutAnswer(
    hook: HookName,
    bytes: number,
    work: (isBusy: boolean) => void,
  ): Promise<void> {
    if (hook !== "publish" && hook !== "connect" && hook !== "subscribe") {
      await super.carryOutAnswer(hook, bytes, work);
      return;
    }
    const kind = hook === "publish" ? hook : "other";
    const carriedOut = await this.#queue.add(kind, bytes, () => work(false));
    if (carriedOut.outcome === "overloaded") work(true);
    await this.endEvent(Date.now());
  }

  /** Carries out a frame of a client that publishes, as a job. */
  async #carryOutFrame(bytes: number, carryOut: (isBusy: boolean) => void): Promise<void> {
    const carriedOut = await this.#queue.add("publish", bytes, () => carryOut(false));
    if (carriedOut.outcome === "overloaded") carryOut(true);
  }

  /**
   * Ends the event of a call, and gives the answer to it. To a caller that carries it the answer brings what the object
   * has counted (rule J7). That is taken before the event ends, because its end may report it.
   */
  async #answered<Answers extends ChannelAnswers | RelayReplies>(
    carriedOut: JobOutcome<Answers>,
    carries: boolean | undefined,
  ): Promise<Answers | Overloaded> {
    const answers = carriedOut.outcome === "done" ? carriedOut.result : carriedOut;
    const isCounted = carries === true && answers.outcome === "answers";
    const counted = isCounted ? this.metrics?.forAnswer(Date.now()) : undefined;
    await this.schedule(Date.now());
    return { ...answers, ...(counted && { counted }) };
  }

  /** The job of {@link execute}. */
  #carryOut(
    commands: readonly ChannelOperation[],
    present: PresenceAnswer | undefined,
  ): ChannelAnswers {
    const nowMs = Date.now();
    if (!this.#known) {
      const unknown = { error: errorCodes.unknownChannel };
      return { outcome: "answers", answers: commands.map(() => unknown) };
    }
    this.#traceparent = traceOf(commands) ?? this.#traceparent;
    this.sockets.sweep(nowMs, false);
    if (kindOf(commands) === "publish" && this.#channel.hub.overloaded(nowMs)) {
      return { outcome: "overloaded", retryAfterSeconds: 1 };
    }
    return { outcome: "answers", answers: executeAll(this.#channel, commands, nowMs, present) };
  }

  /** Makes what was written durable; in a span if a publication of the round belongs to a trace. */
  #commit(): Promise<void> {
    const traceparent = this.#traceparent;
    if (traceparent === undefined) return this.ctx.storage.sync();
    this.#traceparent = undefined;
    const channel = this.#channel.name;
    return inSpan("commit", { traceparent, channel }, () => this.ctx.storage.sync());
  }

  #afterCommit(nowMs: number): void {
    this.events?.committed(nowMs);
    this.settle(nowMs);
  }

  /** The present clients, once for all commands of a call (rule P3); undefined if no command asks, or none may know. */
  async #presenceFor(commands: readonly ChannelOperation[]): Promise<PresenceAnswer | undefined> {
    if (!this.#known || !this.#channel.options.presence) return undefined;
    if (commands.some(({ method }) => method === "presence")) return this.#askPresence(jsonCodec);
    const counts = commands.some(({ method }) => method === "presence_stats");
    return counts ? this.#askPresence(undefined) : undefined;
  }

  /** Asks who is present for a call. `codec`: the one in which the list will be encoded. */
  #askPresence(codec: Codec | undefined): Promise<PresenceAnswer> {
    this.#sweepIsDue = true;
    return new Promise((resolve) => {
      this.#presence.ask({ codec, done: resolve });
    });
  }

  /** The subscribers, without silent connections if a call asked for them. */
  #sweptSubscribers(): readonly Subscriber[] {
    if (this.#sweepIsDue) this.sockets.sweep(Date.now(), true);
    this.#sweepIsDue = false;
    return this.#channel.hub.subscribers;
  }

  /** Asks all gateways which of their clients are present. */
  async #gather(done: (others: GatheredPresence) => void): Promise<void> {
    const { gateways } = this.#channel.relay;
    this.callsMade += gateways.length;
    done(await gatherPresence(this.env.GATEWAYS, gateways, this.#channel.name));
    await this.endEvent(Date.now());
  }

  /**
   * Settles: calls the gateways that have taken the batch before, and starts to send the next frame. During a commit it
   * does neither, as the queue settles after the commit; but the frame that is on its way goes on.
   */
  protected override readonly settle = (nowMs: number): void => {
    const { relay, hub, trail, map } = this.#channel;
    map?.tellLoss(nowMs);
    if (map !== undefined) this.#restTimer.set(map.restInMs(nowMs), nowMs);
    const { top } = this.#channel;
    if (!this.#queue.committing) {
      trail.committed(nowMs);
      for (const delivery of relay.deliveries(top, nowMs)) void this.#deliver(delivery);
      this.#retryTimer.set(relay.retryInMs(nowMs), nowMs);
      hub.begin();
    }
    this.#presenceMaps?.settle(nowMs);
    this.#polls?.settle(nowMs);
    this.#tracking?.settle(nowMs);
    if (hub.sending || this.#tracking?.sending === true) this.sendInTurns(hub.collecting);
    if (!hub.full) this.#queue.resume();
    this.#channel.noteHolders(nowMs);
  };

  protected override readonly told: KindTold = {
    trail: (query, nowMs) => toldByChannel(this.#channel, query.offset, nowMs),
    state: (_query, nowMs) => {
      const { committing: isCommitting, waitingBytes } = this.#queue;
      const state = channelState(this.#channel, nowMs);
      return {
        channel: { ...state, isKnown: this.#known, isCommitting, waitingBytes },
        subscribers: ownSubscribers(this.#channel, this.sockets.clients),
      };
    },
  };
  protected override readonly isOccupied = (): boolean => this.#channel.isHeld;

  protected override readonly sendSlice = (): void => {
    this.#channel.hub.sendSlice();
    this.#tracking?.sendSlice();
  };

  protected override readonly onAlarm = async (nowMs: number): Promise<void> => {
    this.#hadAlarm = true;
    const newestMs = this.#channel.newestMs ?? 0;
    // The instance that set this alarm may have crashed before the gateways had its last publications (rule L4).
    if (!elapsed(newestMs, limits.crashCheckMs, nowMs)) this.#channel.relay.checkAfterWaking();
    this.#channel.map?.expire(nowMs);
    this.#channel.presenceMap?.ring(nowMs);
    this.#channel.deleteExpired(nowMs);
    this.settle(nowMs);
    if (this.#storesNothing) await this.#deleteLeftovers(nowMs);
  };

  /** The last socket may leave after the last alarm, and then nothing else would delete what is left (rule H13). */
  override async webSocketClose(...closing: SocketClosing): Promise<void> {
    await super.webSocketClose(...closing);
    await this.#afterLastSocket();
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await super.webSocketError(socket);
    await this.#afterLastSocket();
  }

  async #afterLastSocket(): Promise<void> {
    const isLeft = this.sockets.empty && !this.alarms.pending && this.#hadAlarm;
    if (isLeft && this.#storesNothing) await this.#deleteLeftovers(Date.now());
  }

  #presenceDriver(channel: Channel): PresenceDriver | undefined {
    if (channel.presenceMap === undefined && channel.teller === undefined) return undefined;
    const called = (calls: number): void => void (this.callsMade += calls);
    const { env, later, endEvent } = this;
    return new PresenceDriver({ channel, env, queue: this.#queue, called, later, endEvent });
  }

  #pollDriver({ name, sharedPoll: poll, options }: Channel): PollDriver | undefined {
    const { hooks } = this.hooks;
    if (poll === undefined || options.sharedPoll === undefined || hooks === undefined)
      return undefined;
    return new PollDriver({
      channel: name,
      poll,
      options: options.sharedPoll,
      hooks,
      deliver: (delivery) => {
        this.callsMade++;
        return deliverPoll(this.env.GATEWAYS, delivery);
      },
      endEvent: this.endEvent,
      failed: (reason) => console.warn(`the backend of a shared poll failed: ${reason}`),
    });
  }

  async #deliver(delivery: Delivery): Promise<void> {
    this.callsMade++;
    this.callsCountedByCalled++;
    const reply = await deliver(this.env.GATEWAYS, delivery);
    const nowMs = Date.now();
    this.#channel.relay.answered(delivery, reply, nowMs);
    await this.endEvent(nowMs);
  }

  get #storesNothing(): boolean {
    return this.#channel.storesNothing && this.events?.outbox.storesNothing !== false;
  }

  protected override readonly dueAtMs = (nowMs: number): number => {
    this.#hadStorage ||= !this.#storesNothing;
    const cleanupDueMs = this.#channel.cleanupDueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    const pollMs = this.#channel.sharedPoll?.alarmAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    const countMs = this.#channel.presenceMap?.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    return Math.min(cleanupDueMs, this.#channel.relay.alarmAtMs(nowMs), pollMs, countMs);
  };

  /**
   * Deletes storage that holds nothing any more (rule H13). The storage of a namespace that has left the configuration
   * stays for the `history_meta_ttl` of channels without a namespace, because the namespace may come back.
   */
  async #deleteLeftovers(nowMs: number): Promise<void> {
    // An alarm leaves a table of the platform behind. With sockets, the next ping would make it again.
    if (!this.#hadStorage && !this.sockets.empty) return;
    const { historyMetaTtlMs } = this.config.channel.withoutNamespace;
    const endsAtMs = this.#known ? nowMs : storedAtMs(this.sql) + historyMetaTtlMs;
    if (endsAtMs > nowMs) {
      await this.alarms.atMost(endsAtMs);
      return;
    }
    await this.ctx.storage.deleteAll();
    this.#hadStorage = false;
    this.#hadAlarm = false;
  }
}

/** The keys of a presence map couldn't be found out: nothing was carried out. */
const busy = { outcome: "overloaded", retryAfterSeconds: 1 } as const;

/**
 * The storage of a channel whose namespace the configuration doesn't have: it holds nothing, and nothing may be
 * written.
 */
const noStorage: Sql = {
  rows: () => [],
  run: () => {
    throw new Error("A channel of an unknown namespace wrote to its storage");
  },
  transaction: (work) => work(),
};

/** A new epoch: eight letters, as in Centrifugo's memory engine. */
function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => letters.charAt(byte % letters.length)).join("");
}

/** 52 letters don't divide 256 evenly, and some are likelier: no harm for a value that only has to be new. */
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
