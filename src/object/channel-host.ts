import {
  type ChannelAnswers,
  type ChannelOperation,
  operationBytes,
  traceOf,
} from "../contract/channel-call.ts";
import { executeAll } from "../api/execute.ts";
import { Channel } from "../channel/channel.ts";
import type { ChannelSetup } from "../channel/channel-setup.ts";
import { CommitSharing } from "../channel/commit-sharing.ts";
import { resolveChannel } from "../channel/channel-name.ts";
import { SingleChannel } from "../session/single-channel.ts";
import type { Config } from "../config/config.ts";
import type { PresenceAnswer } from "../protocol/reply.ts";
import { storedTables } from "../channel/stored-tables.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import { replyToRequests } from "../channel/relay-replies.ts";
import type { Delivery } from "../channel/follower-progress.ts";
import type { OwnSubscribers } from "../contract/listing.ts";
import {
  relayRequestBytes,
  type RelayReplies,
  type ChannelPresenceReply,
  type PresenceKind,
  type RelayRequest,
} from "../contract/relay-request.ts";
import { Session } from "../session/session.ts";
import { channelNode } from "../contract/object-names.ts";
import { NextTimer } from "./alarm-schedule.ts";
import { ChannelPresence } from "./channel-presence.ts";
import { ClientSockets } from "./client-sockets.ts";
import {
  CommitQueue,
  type Commits,
  type JobOutcome,
  kindOf,
  type Overloaded,
  type Thrown,
} from "./commit-queue.ts";
import { channelObjectParts, featuredChannels, objectParts } from "../features/index.ts";
import { Leftovers, noStorage } from "./leftovers.ts";
import { answerOrFailure } from "./object-call.ts";
import { ObjectHost, partsOfSetup } from "./object-host.ts";
import { finish, type ObjectPart, type ObjectBounds, type PartedChannelObject } from "./part.ts";
import type { Platform, PlatformSocket } from "./platform.ts";
import { elapsed } from "../moment.ts";

/**
 * The object of one channel, named after the channel. It gives the platform (storage, sockets, alarm, time) to
 * `Channel` and to the sessions, and these make the decisions. All publications and reads go through the commit queue,
 * in rounds of three phases:
 *
 * ```text
 * jobs ─► 1 collect   one synchronous stretch: rows are written, hub and relay collect, replies are given
 *         2 commit    one commit for all jobs of the round; further jobs wait
 *         3 settle    the hub sends frames to sockets, the relay's batches go to gateways
 * ```
 *
 * The output gate holds back everything that leaves the object until the writes before it are durable (rule O2). The
 * queue calls this object back, for each job and to settle. src/README.md shows the whole path.
 */
export class ChannelHost extends ObjectHost implements PartedChannelObject {
  readonly channel: Channel;
  /** Whether the configuration has the channel's namespace. */
  readonly #known: boolean;
  readonly queue: CommitQueue;
  readonly bounds: ObjectBounds;
  readonly sweep = (): void => this.sockets.sweep(this.platform.nowMs(), true);
  readonly tell: PartedChannelObject["tell"] = (event, nowMs) => {
    for (const part of this.parts) part.tell?.(event, nowMs);
  };
  readonly untaken = (): number => Math.max(0, ...this.parts.map((part) => part.untaken ?? 0));
  readonly #presence: ChannelPresence;
  protected override readonly parts: readonly ObjectPart[];
  override readonly sockets: ClientSockets;
  override readonly node: string;
  override readonly kind = "channel";
  /** The trace of a publication that waits for the next commit; undefined if none belongs to one (rule X2). */
  #traceparent: string | undefined;
  readonly #retryTimer = new NextTimer(this.platform, (nowMs) => this.endEvent(nowMs));
  readonly #shareTimer = new NextTimer(this.platform, () => this.queue.waited());
  readonly #leftovers: Leftovers;

  /**
   * @param bounds     of what is done in one turn
   * @param newChannel makes the channel; the simulator makes one that it compares with a model
   */
  constructor(
    platform: Platform,
    config: Config,
    bounds: ObjectBounds = limits,
    newChannel = (setup: ChannelSetup): Channel => new Channel(setup),
  ) {
    super(platform, config);
    // Once the alarm is known, `schedule` sets it in the same event as a publication's row is written. So both are in
    // one commit, and a crash can't come between them (rule L4).
    platform.readAlarmFirst(this.alarms.known);
    const { name, sql } = platform;
    this.node = channelNode(name);
    const resolved = resolveChannel(name, config.channel);
    this.#known = resolved.outcome === "resolved";
    const tables = storedTables(sql);
    this.#leftovers = new Leftovers(
      {
        platform,
        alarms: this.alarms,
        parts: () => this.parts,
        storesNothing: () => this.channel.storesNothing,
        holdsSockets: () => !this.sockets.empty,
        unknownMetaTtlMs: this.#known
          ? undefined
          : config.channel.withoutNamespace.historyMetaTtlMs,
      },
      tables.size > 0,
    );
    const nowMs = platform.nowMs();
    this.parts = objectParts(this);
    const channel = newChannel({
      name,
      options: resolved.outcome === "resolved" ? resolved.options : config.channel.withoutNamespace,
      client: config.client,
      // A namespace that left the configuration may come back, so its storage is left alone.
      ...(this.#known ? { sql, tables } : { sql: noStorage }),
      newEpoch: () => platform.newEpoch(),
      nowMs,
      instance: nowMs,
      fanOut: bounds,
      features: featuredChannels(config),
      ...partsOfSetup(this.parts, (part) => part.ofChannel?.(name)),
    });
    for (const part of this.parts) part.began?.(channel);
    this.channel = channel;
    this.bounds = bounds;
    this.queue = new CommitQueue(this.#commits(), new CommitSharing(channel));
    this.#presence = new ChannelPresence(this);
    const ofChannel = channelObjectParts(this);
    this.parts = [...this.parts, ...ofChannel];
    this.sockets = this.#newSockets(channel, ofChannel);
  }

  #newSockets(channel: Channel, parts: readonly ObjectPart[]): ClientSockets {
    const { platform, config } = this;
    const presence = this.#presence.shared;
    const ofSessions = this.ofSessions();
    const nowMs = (): number => platform.nowMs();
    const sessions = {
      ...ofSessions,
      channels: new SingleChannel(
        channel,
        config.channel,
        presence,
        nowMs,
        ofSessions.clients,
        parts,
      ),
      channel: channel.name,
      serverSubscriptions: false,
      storesRows: false,
    };
    return new ClientSockets({
      ...this.ofSockets(),
      serverSubscriptions: false,
      channel: channel.name,
      nearlyFull: () => false,
      newSession: (snapshot, connection) => new Session(snapshot, connection, sessions),
      commit: (...frame) => this.#carryOutAsJob(...frame),
    });
  }

  #commits(): Commits {
    const { platform } = this;
    return {
      settle: () => {
        const nowMs = platform.nowMs();
        for (const part of this.parts) part.committed?.(nowMs);
        this.settle(nowMs);
      },
      commit: (done) => this.#commit(done),
      guard: (work) => platform.guard(work),
      nowMs: () => platform.nowMs(),
      full: () => this.channel.hub.full || this.channel.relay.full(platform.nowMs()),
      wait: (waitMs) => this.#shareTimer.set(waitMs, platform.nowMs()),
    };
  }

  // The calls' contract is in src/contract/object-calls.ts.
  execute(
    commands: readonly ChannelOperation[],
    carries: boolean | undefined,
    done: (answers: ChannelAnswers | Thrown) => void,
  ): void {
    this.happened("api");
    const bytes = commands.reduce((sum, command) => sum + operationBytes(command), 0);
    const traceparent = traceOf(commands);
    const work = (present: PresenceAnswer | undefined, answer: typeof done): void => {
      const job = (): ChannelAnswers => this.#carryOut(commands, present);
      this.queue.enqueue(kindOf(commands), bytes, job, (carriedOut) =>
        finish(commands, carriedOut, this.parts, (finished) =>
          this.#answer<ChannelAnswers>(finished, carries, answer),
        ),
      );
    };
    this.#presence.askFor(commands, (present) =>
      this.#whenReady(commands, done, () => {
        if (traceparent === undefined) {
          work(present, done);
          return;
        }
        this.platform.span("publish", { traceparent, channel: this.channel.name }, (over) =>
          work(present, (answers) => {
            over();
            done(answers);
          }),
        );
      }),
    );
  }

  ask(
    gateway: string,
    requests: readonly RelayRequest[],
    carries: boolean | undefined,
    done: (replies: RelayReplies | Thrown) => void,
  ): void {
    this.happened("gateway");
    const bytes = requests.reduce((sum, request) => sum + relayRequestBytes(request), 0);
    const kind = kindOf(requests);
    const job = (): RelayReplies => {
      const nowMs = this.platform.nowMs();
      if (!this.#known) {
        const unknown = { outcome: "failed", error: errorCodes.unknownChannel } as const;
        return { outcome: "answers", answers: requests.map(() => unknown) };
      }
      // Only publications are refused: a leave must be announced, and missed publications can be read.
      const refused = kind === "publish" && this.channel.hub.overloaded(nowMs);
      return {
        outcome: "answers",
        answers: replyToRequests(this.channel, gateway, requests, nowMs, refused),
      };
    };
    this.#whenReady(requests, done, () =>
      this.queue.enqueue(kind, bytes, job, (carriedOut) =>
        this.#answer<RelayReplies>(carriedOut, carries, done),
      ),
    );
  }

  present(shown: PresenceKind | undefined, done: (reply: ChannelPresenceReply) => void): void {
    this.happened("presence");
    const part = shown && this.parts.find((one) => "listShown" in one);
    if (shown === undefined || part?.listShown === undefined) this.#presence.list(done);
    else part.listShown(shown, done);
  }

  ownSubscribers(): OwnSubscribers {
    this.happened("directory");
    const nowMs = this.platform.nowMs();
    this.sockets.sweep(nowMs, true);
    const answer = { subscribers: this.channel.hub.shownSize, left: this.stillListed() };
    this.endEvent(nowMs);
    return answer;
  }

  /** Works once the keys of a presence map may be read; answers that it can't if they may not. */
  #whenReady(
    calls: readonly (ChannelOperation | RelayRequest)[],
    answer: (busy: Overloaded) => void,
    work: () => void,
  ): void {
    const { gate } = this.channel;
    if (gate?.whenReadable === undefined) {
      work();
      return;
    }
    const nowMs = this.platform.nowMs();
    gate.whenReadable(calls, nowMs, (outcome) => {
      if (outcome === "ready") work();
      else answer(busy);
    });
    // What the channel waits for is asked for now.
    for (const part of this.parts) part.settle?.(nowMs);
  }

  /**
   * A publish that a backend has allowed is a job like a frame that publishes. After a connect or a subscribe, commands
   * are carried out that waited for it, and may publish.
   */
  protected override carryOutAnswer(
    hook: string,
    bytes: number,
    work: (isBusy: boolean) => void,
  ): void {
    if (hook !== "publish" && hook !== "connect" && hook !== "subscribe") {
      super.carryOutAnswer(hook, bytes, work);
      return;
    }
    const kind = hook === "publish" ? hook : "other";
    this.#carryOutAsJob(kind, bytes, work, () => this.endEvent(this.platform.nowMs()));
  }

  /** Does a session's work as a job, which says that the object is busy if there is no room for it. */
  #carryOutAsJob(
    kind: "publish" | "other",
    bytes: number,
    work: (isBusy: boolean) => void,
    done: () => void,
  ): void {
    const job = (): void => work(false);
    this.queue.enqueue(kind, bytes, job, (carriedOut) => {
      if (carriedOut.outcome === "overloaded") work(true);
      done();
    });
  }

  /**
   * Ends the event of a call, and gives the answer to it. To a caller that carries it the answer brings what the object
   * has counted (rule J7). That is taken before the event ends, because its end may report it.
   */
  #answer<Answers extends ChannelAnswers | RelayReplies>(
    carriedOut: JobOutcome<Answers>,
    carries: boolean | undefined,
    done: (answers: Answers | Overloaded | Thrown) => void,
  ): void {
    const answers = carriedOut.outcome === "done" ? carriedOut.result : carriedOut;
    const isCounted = carries === true && answers.outcome === "answers";
    const nowMs = this.platform.nowMs();
    const counted = isCounted ? this.forAnswer(nowMs) : undefined;
    this.schedule(nowMs);
    done({ ...answers, ...(counted && { counted }) });
  }

  /** The job of {@link execute}. */
  #carryOut(
    commands: readonly ChannelOperation[],
    present: PresenceAnswer | undefined,
  ): ChannelAnswers {
    const nowMs = this.platform.nowMs();
    if (!this.#known) {
      const unknown = { error: errorCodes.unknownChannel };
      return { outcome: "answers", answers: commands.map(() => unknown) };
    }
    this.#traceparent = traceOf(commands) ?? this.#traceparent;
    this.sockets.sweep(nowMs, false);
    if (kindOf(commands) === "publish" && this.channel.hub.overloaded(nowMs)) {
      return { outcome: "overloaded", retryAfterSeconds: 1 };
    }
    return { outcome: "answers", answers: executeAll(this.channel, commands, nowMs, present) };
  }

  /** Makes what was written durable; in a span if a publication of the round belongs to a trace. */
  #commit(done: (isDurable: boolean) => void): void {
    const traceparent = this.#traceparent;
    const { platform } = this;
    if (traceparent === undefined) {
      platform.sync(done);
      return;
    }
    this.#traceparent = undefined;
    platform.span("commit", { traceparent, channel: this.channel.name }, (over) =>
      platform.sync((isDurable) => {
        over();
        done(isDurable);
      }),
    );
  }

  override get knownChannel(): string | undefined {
    return this.#known ? this.platform.name : undefined;
  }

  override jobAddedAtMs(): number | undefined {
    return this.queue.jobAddedAtMs;
  }

  /**
   * Settles: calls the gateways that have taken the batch before, and starts to send the next frame. During a commit it
   * does neither, as the queue settles after the commit; but the frame that is on its way goes on.
   */
  protected override settle(nowMs: number): void {
    const { relay, hub, keys } = this.channel;
    keys?.tellLoss(nowMs);
    const { top } = this.channel;
    if (!this.queue.committing) {
      for (const part of this.parts) part.handsOn?.(nowMs);
      for (const delivery of relay.deliveries(top, nowMs)) this.#deliver(delivery);
      this.#retryTimer.set(relay.retryInMs(nowMs), nowMs);
      hub.begin();
    }
    let isSending = hub.sending;
    for (const part of this.parts) {
      part.settle?.(nowMs);
      isSending ||= part.sending === true;
    }
    if (isSending) this.sendInTurns(hub.collecting);
    if (!hub.full) this.queue.resume();
    this.channel.noteHolders(nowMs);
  }

  override channelCount(): number {
    return this.channel.hub.shownSize > 0 ? 1 : 0;
  }

  protected override sendSlice(): void {
    this.channel.hub.sendSlice();
    for (const part of this.parts) part.sendSlice?.();
  }

  protected override onAlarm(nowMs: number, done: () => void): void {
    const newestMs = this.channel.newestMs ?? 0;
    // The instance that set this alarm may have crashed before the gateways had its last publications (rule L4).
    if (!elapsed(newestMs, limits.crashCheckMs, nowMs)) this.channel.relay.checkAfterWaking();
    for (const part of this.parts) part.ring?.(nowMs);
    this.channel.deleteExpired(nowMs);
    this.settle(nowMs);
    this.#leftovers.afterAlarm(nowMs, done);
  }

  override closed(socket: PlatformSocket, code: number, reason: string, wasClean: boolean): void {
    super.closed(socket, code, reason, wasClean);
    this.#leftovers.afterSocket(this.platform.nowMs());
  }

  override failed(socket: PlatformSocket): void {
    super.failed(socket);
    this.#leftovers.afterSocket(this.platform.nowMs());
  }

  #deliver(delivery: Delivery): void {
    const { platform } = this;
    this.called();
    this.callsCountedByCalled++;
    const { gateway, batch } = delivery;
    platform.call("deliver", gateway, [batch], limits.objectAnswerMs, (reply) => {
      const nowMs = platform.nowMs();
      this.channel.relay.answered(delivery, answerOrFailure(reply), nowMs);
      this.endEvent(nowMs);
    });
  }

  protected override dueAtMs(nowMs: number): number {
    this.#leftovers.note();
    const cleanupDueMs = this.channel.cleanupDueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    return Math.min(cleanupDueMs, this.channel.relay.alarmAtMs(nowMs));
  }
}

// What has to be read couldn't be found out.
const busy = { outcome: "overloaded", retryAfterSeconds: 1 } as const;
