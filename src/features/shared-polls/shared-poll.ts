import type { SharedPollOptions } from "./config.ts";
import {
  changeBytes,
  type KeyChange,
  type KnownVersion,
  type PollBatch,
  type PollBatchReply,
  type PollPublishRequest,
} from "./poll-batch.ts";
import type { PollAnswer } from "./refresh-hook.ts";
import { pollLimits } from "./limits.ts";
import type { ChannelPart, PartOutcome } from "../../channel/channel-part.ts";
import type { ChannelOperation, FailedReply } from "../../contract/channel-call.ts";
import type { RelayReply, RelayRequest } from "../../contract/relay-request.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { Payload } from "../../protocol/payload.ts";
import { LeftKeys, contentOf, isSameContent, type PolledKey } from "./polled-key.ts";
import { PollCycle, type PollQuestion } from "./poll-cycle.ts";
import { Watcher } from "./watcher.ts";

/**
 * The keys of one shared poll, in its channel's object (rules SP1 to SP10): who tracks them, which version and data each
 * has, when the backend is asked for which of them, and which gateway is to be told what. Everything is in memory: a new
 * instance knows nothing. A watcher of the earlier instance is answered so, and tracks its keys again.
 *
 * It is synchronous: its owner asks the backend what {@link ask} says, calls the gateways that {@link deliveries} names,
 * and reports the outcomes.
 */
export class SharedPoll implements ChannelPart {
  readonly #channel: string;
  readonly #instance: number;
  readonly #options: SharedPollOptions;
  readonly #cycle: PollCycle;
  readonly #keys = new Map<string, PolledKey>();
  readonly #watchers = new Map<string, Watcher>();
  readonly #left: LeftKeys;
  /** The version of the newest change of any key, without versions of the backend's. */
  #newest = 0n;
  /** The characters of the keys. */
  #keysLength = 0;
  /** The characters of the data that is kept. */
  #kept = 0;
  #epoch: string;

  /**
   * Begins the poll of a new instance of a channel. The gateways that followed the instance before are called, because they
   * may track keys of which this one knows nothing (rule SP8).
   */
  static begin(
    channel: string,
    options: SharedPollOptions,
    { instance, gateways }: { readonly instance: number; readonly gateways: readonly string[] },
    newEpoch: () => string,
    nowMs: number,
  ): SharedPoll {
    const epoch = options.mode === "versioned" ? "" : newEpoch();
    const poll = new SharedPoll({ channel, instance, options, epoch });
    for (const gateway of gateways) poll.#watcher(gateway, nowMs).mustCall = true;
    return poll;
  }

  /** @param epoch a new one; it counts for as long as the backend names no other, and "" if versions are the backend's */
  constructor({ channel, instance, options, epoch }: PollSetup) {
    this.#channel = channel;
    this.#instance = instance;
    this.#options = options;
    this.#epoch = epoch;
    this.#left = new LeftKeys(options.channelShutdownDelayMs);
    this.#cycle = new PollCycle(options.refreshIntervalMs, options.refreshBatchSize);
  }

  /** Names the versions: a version of another epoch says nothing. "" until a backend with versions names one. */
  get epoch(): string {
    return this.#epoch;
  }

  get instance(): number {
    return this.#instance;
  }

  /** Whether a key is tracked, or one has been until just now: the object has to stay awake, because it stores nothing. */
  get active(): boolean {
    return this.#keys.size > 0;
  }

  /** How many keys are known. */
  get size(): number {
    return this.#keys.size;
  }

  reply(
    gateway: string,
    request: RelayRequest,
    roomBytes: number,
    nowMs: number,
  ): RelayReply | undefined {
    if (request.method === "untrack") {
      this.untrack(gateway, request.keys, request.number);
      return { outcome: "untracked" };
    }
    if (request.method !== "track") return undefined;
    const { known, number } = request;
    const bytesMax = Math.min(roomBytes, pollLimits.pollBatchBytesMax);
    const tracking = this.track(gateway, known, nowMs, bytesMax);
    if (number !== undefined) this.noteRequest(gateway, number);
    return tracking;
  }

  carryOut(operation: ChannelOperation): PartOutcome | undefined {
    if (operation.method !== "shared_poll_publish") return undefined;
    return { outcome: this.publish(operation.request) === "taken" ? "done" : "not-available" };
  }

  /**
   * Tracks keys for a watcher's connection (rule SP6).
   *
   * @param watcher  the name of a gateway; "" for the channel's object itself
   * @param known    the keys with the versions that the connection has
   * @param bytesMax how large the reply may be
   * @returns the newer values that there are, as far as the reply may hold them; the others are told later, as are those
   *          for which the backend has to be asked first
   */
  track(
    watcher: string,
    known: readonly KnownVersion[],
    nowMs: number,
    bytesMax: number = pollLimits.pollBatchBytesMax,
  ): TrackOutcome {
    const [epoch, instance] = [this.#epoch, this.#instance];
    const newer: KeyChange[] = [];
    if (known.length === 0) return { outcome: "tracking", epoch, instance, newer };
    if (!this.#hasRoom(known)) return { outcome: "failed", error: errorCodes.limitExceeded };
    const one = this.#watcher(watcher, nowMs);
    let bytes = 0;
    for (const { key, version } of known) {
      const state = this.#key(key);
      this.#left.drop(key);
      state.watchers.add(one);
      const before = one.has.get(key);
      const { change } = state;
      // What the watcher is noted to have, all its connections have: a backend may have answered an older value than others
      // of them got before.
      const has = change === undefined ? version : state.version;
      one.track(key, before === undefined || has < before ? has : before);
      if (change === undefined) {
        if (version < state.version || state.version === 0n) this.#cycle.askSoon(key);
        continue;
      }
      if (version >= state.version) continue;
      bytes += changeBytes(change);
      if (bytes <= bytesMax) newer.push(change);
      else {
        one.track(key, version);
        one.tell(change, true);
      }
    }
    this.#cycle.start(nowMs);
    return { outcome: "tracking", epoch, instance, newer };
  }

  /** Notes the number of a request of a gateway to track keys that was just carried out. */
  noteRequest(watcher: string, number: number): void {
    const one = this.#watchers.get(watcher);
    if (one !== undefined) one.newestRequest = Math.max(one.newestRequest, number);
  }

  /**
   * Nobody tracks these keys any more at a watcher.
   *
   * @param number of the gateway's request; one that comes after a later request to track keys has no effect. Undefined:
   *               it can't be late
   */
  untrack(watcher: string, keys: Iterable<string>, number?: number): void {
    const one = this.#watchers.get(watcher);
    if (one === undefined || (number !== undefined && number < one.newestRequest)) return;
    for (const key of keys) this.#untrack(one, key);
    if (one.idle && !one.calling) this.#watchers.delete(watcher);
  }

  /**
   * The next question to the backend, which is in flight from here on: {@link answered} has to be called. Undefined if
   * there is nothing to ask now.
   */
  ask(nowMs: number): PollRequest | undefined {
    this.#forgetLeft(nowMs);
    const question = this.#cycle.next(
      () => [...this.#keys.keys()].filter((key) => this.#isTracked(key)),
      (key) => this.#isTracked(key),
      nowMs,
    );
    if (question === undefined) return undefined;
    return { question, items: question.keys.map((key) => this.#known(key)) };
  }

  /**
   * Takes the backend's answer (rules SP3 and SP5).
   *
   * @param answer undefined if there is none, or none that can be used
   */
  answered({ question }: PollRequest, answer: PollAnswer | undefined, nowMs: number): void {
    this.#cycle.ended(question, answer === undefined ? "failed" : "answered", nowMs);
    if (answer === undefined || this.#beginsEpoch(answer.epoch)) return;
    const asked = new Set(question.keys);
    for (const item of answer.items) {
      // A backend may answer more than it was asked for.
      if (!asked.has(item.key) || !this.#isTracked(item.key)) continue;
      if (item.removed === true) this.#remove(item.key);
      else this.#take(item.key, item.data, item.version);
    }
  }

  /**
   * Takes a value that a backend publishes (rule SP11). Nothing is kept of a key that nobody tracks.
   *
   * @returns whether the channel takes publications
   */
  publish({ key, data, version, epoch }: PollPublishRequest): "taken" | "not-available" {
    if (!this.#versioned || !this.#options.publishEnabled) return "not-available";
    if (!this.#beginsEpoch(epoch) && this.#isTracked(key)) this.#take(key, data, version);
    return "taken";
  }

  /** Takes the changes for the connections of the channel's own object; none of them is given again. */
  takeOwn(): readonly KeyChange[] {
    return this.#watchers.get("")?.takeAll() ?? [];
  }

  /** The calls to make now. Report the outcome of each to {@link delivered}. */
  deliveries(nowMs: number): readonly PollDelivery[] {
    const deliveries: PollDelivery[] = [];
    for (const one of this.#watchers.values()) {
      if (one.name === "" || one.dueAtMs(nowMs) > nowMs) continue;
      const batch: PollBatch = {
        v: 1,
        channel: this.#channel,
        instance: this.#instance,
        epoch: this.#epoch,
        changes: one.begin(),
        ...(one.since === undefined ? {} : { since: one.since }),
      };
      deliveries.push({ gateway: one.name, batch });
    }
    return deliveries;
  }

  /** Takes the outcome of a call. @param reply "failed" if it is unknown whether the gateway took the batch */
  delivered(
    { gateway, batch }: PollDelivery,
    reply: PollBatchReply | "failed",
    nowMs: number,
  ): void {
    const one = this.#watchers.get(gateway);
    if (one === undefined) return;
    const outcome = reply === "failed" ? reply : reply.outcome;
    switch (outcome) {
      case "taken":
      case "left": {
        const meanwhile = one.took(nowMs);
        one.since = sinceOf(reply);
        const gone = outcome === "left" ? [...one.has.keys()] : untrackedOf(reply);
        for (const key of gone) if (!meanwhile.has(key)) this.#untrack(one, key);
        if (one.idle) this.#watchers.delete(gateway);
        return;
      }
      case "busy":
      case "failed":
      default:
        one.failed(batch.changes, nowMs);
    }
  }

  /** When the owner has to go on with {@link ask} and {@link deliveries}, ms since 1970; undefined for never. */
  dueAtMs(nowMs: number): number | undefined {
    let dueMs = Math.min(this.#cycle.dueAtMs(nowMs), this.#left.dueAtMs(nowMs));
    for (const one of this.#watchers.values())
      if (one.name !== "") dueMs = Math.min(dueMs, one.dueAtMs(nowMs));
    return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs;
  }

  /**
   * When an alarm has to ring although a timer is set, which a crash would lose: ms since 1970; Infinity for never. Keys
   * need it, and gateways that aren't told yet that theirs are lost (rule SP10).
   */
  alarmAtMs(nowMs: number): number {
    const isNeeded = this.active || [...this.#watchers.values()].some(({ isOwed }) => isOwed);
    return isNeeded ? nowMs + pollLimits.pollAlarmMs : Number.POSITIVE_INFINITY;
  }

  get #versioned(): boolean {
    return this.#options.mode === "versioned";
  }

  #isTracked(key: string): boolean {
    const state = this.#keys.get(key);
    return state !== undefined && state.watchers.size > 0;
  }

  #watcher(name: string, nowMs: number): Watcher {
    const known = this.#watchers.get(name);
    if (known !== undefined) return known;
    const one = new Watcher(name, nowMs);
    this.#watchers.set(name, one);
    return one;
  }

  #hasRoom(known: readonly KnownVersion[]): boolean {
    const added = known.filter(({ key }) => !this.#keys.has(key));
    const length = added.reduce((sum, { key }) => sum + key.length, this.#keysLength);
    const { polledKeysMax, polledKeysLengthMax } = pollLimits;
    return this.#keys.size + added.length <= polledKeysMax && length <= polledKeysLengthMax;
  }

  #key(key: string): PolledKey {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    this.#keysLength += key.length;
    const state: PolledKey = {
      version: 0n,
      change: undefined,
      hash: undefined,
      watchers: new Set(),
    };
    this.#keys.set(key, state);
    return state;
  }

  #untrack(one: Watcher, key: string): void {
    one.untrack(key);
    const state = this.#keys.get(key);
    if (state?.watchers.delete(one) !== true) return;
    if (state.watchers.size === 0) this.#left.left(key);
  }

  #forgetLeft(nowMs: number): void {
    this.#left.expire(nowMs, (key) => this.#forget(key));
    if (this.#keys.size === 0) this.#cycle.stop();
  }

  #forget(key: string): void {
    const state = this.#keys.get(key);
    if (state === undefined) return;
    this.#keep(state, undefined);
    this.#keys.delete(key);
    this.#keysLength -= key.length;
  }

  /** The version of a key in the next question: a later one would be new to at least one watcher. */
  #known(key: string): KnownVersion {
    const state = this.#keys.get(key);
    if (!this.#versioned || state === undefined) return { key, version: 0n };
    if (state.change !== undefined) return { key, version: state.version };
    let least = state.version === 0n ? undefined : state.version;
    for (const one of state.watchers) {
      const has = one.has.get(key) ?? 0n;
      if (least === undefined || has < least) least = has;
    }
    return { key, version: least ?? 0n };
  }

  /**
   * Begins another epoch if the backend names one: no version counts any more, and all keys have to be tracked again, by
   * subscriptions of that epoch.
   */
  #beginsEpoch(epoch: string): boolean {
    if (epoch === "" || !this.#versioned || epoch === this.#epoch) return false;
    this.#epoch = epoch;
    this.#keys.clear();
    this.#keysLength = 0;
    this.#left.clear();
    this.#kept = 0;
    this.#cycle.stop();
    for (const one of this.#watchers.values()) one.restart();
    return true;
  }

  #remove(key: string): void {
    // It is sent without data.
    const removal: KeyChange = { key, data: new Uint8Array(), offset: 0, removed: true };
    for (const one of this.#keys.get(key)?.watchers ?? []) one.tell(removal, true);
    this.#left.drop(key);
    this.#forget(key);
  }

  /** @param version the backend's; undefined if it has none: then another content is another version */
  #take(key: string, data: Payload, version: bigint | undefined): void {
    const state = this.#keys.get(key);
    if (state === undefined) return;
    if (version !== undefined && version < state.version) return;
    const isSame = version === undefined ? isSameContent(state, data) : version === state.version;
    // Everybody was told of a value that is kept, or got it in a reply.
    if (isSame && state.change !== undefined) return;
    if (!isSame) state.version = version ?? ++this.#newest;
    const change: KeyChange = { key, data, offset: 0, version: state.version };
    this.#keep(state, change);
    const isKept = state.change !== undefined;
    for (const one of state.watchers) one.tell(change, isKept);
  }

  /** Keeps the newest value of a key for those who come later, if there is room; otherwise only what tells it apart. */
  #keep(state: PolledKey, change: KeyChange | undefined): void {
    this.#kept -= state.change?.data.length ?? 0;
    const length = change?.data.length ?? 0;
    const hasRoom = this.#kept + length <= pollLimits.polledDataMax;
    state.change = hasRoom ? change : undefined;
    state.hash = hasRoom || change === undefined ? undefined : contentOf(change.data);
    if (hasRoom) this.#kept += length;
  }
}

interface PollSetup {
  readonly channel: string;
  /** When the channel's instance began, ms since 1970. */
  readonly instance: number;
  readonly options: SharedPollOptions;
  readonly epoch: string;
}

/** The outcome of {@link SharedPoll.track}. failed: no key is tracked, because the channel has too many. */
export type TrackOutcome =
  | {
      readonly outcome: "tracking";
      readonly epoch: string;
      readonly instance: number;
      readonly newer: readonly KeyChange[];
    }
  | FailedReply;

/** A question to the backend: the keys, each with the version after which a value is new; 0n for any. */
export interface PollRequest {
  readonly question: PollQuestion;
  readonly items: readonly KnownVersion[];
}

/** A call to a gateway. */
export interface PollDelivery {
  readonly gateway: string;
  readonly batch: PollBatch;
}

function untrackedOf(reply: PollBatchReply | "failed"): readonly string[] {
  return reply !== "failed" && reply.outcome === "taken" ? (reply.untracked ?? []) : [];
}

function sinceOf(reply: PollBatchReply | "failed"): number | undefined {
  return reply !== "failed" && reply.outcome === "taken" ? reply.since : undefined;
}
