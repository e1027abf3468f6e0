import { limits } from "../limits.ts";
import type { Erased } from "../contract/erased.ts";
import type { PublicationColumns } from "../protocol/publication-columns.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { RelayBatch, RelayBatchReply, RelayEntry } from "../contract/relay-batch.ts";
import type { HubSetup } from "../hub/hub.ts";
import {
  type Delivery,
  FollowerProgress,
  quickRetries,
  slowWaitMaxMs,
} from "./follower-progress.ts";
import type { GatewayRegistry } from "./gateway-registry.ts";
import { type LogSlice, RelayLog } from "./relay-log.ts";

/**
 * The channel's side of the relay (rules L1 to L5): numbers the channel's entries, keeps them until all gateways have
 * taken them, and says which gateway is to be called with which entries. The platform makes the calls and reports the
 * result of each to {@link answered}. {@link GatewayRegistry} keeps the list of gateways durable. Everything here is
 * synchronous.
 */
export class Relay {
  readonly instance: number;
  readonly #channel: string;
  readonly #registry: GatewayRegistry;
  readonly #hasHistory: boolean;
  readonly #aheadEntriesMax: number;
  readonly #log = new RelayLog();
  readonly #calls: CallObserver | undefined;
  readonly #followers = new Map<string, FollowerProgress>();
  /** How often a gateway that followed the channel was found not to any more, or began anew: it may have crashed. */
  renewals = 0;

  constructor({ channel, instance, registry, hasHistory, calls, fanOut = limits }: RelaySetup) {
    this.#channel = channel;
    this.instance = instance;
    this.#registry = registry;
    this.#hasHistory = hasHistory;
    this.#calls = calls;
    this.#aheadEntriesMax = fanOut.relayAheadEntriesMax;
    for (const gateway of registry.gateways)
      this.#followers.set(gateway, new FollowerProgress(gateway, 1, false));
  }

  /** The number of the last entry; 0 before the first. */
  get sequence(): number {
    return this.#log.last;
  }

  /** The names of the gateways that follow the channel. */
  get gateways(): readonly string[] {
    return [...this.#followers.keys()];
  }

  /** How many gateways follow the channel. */
  get size(): number {
    return this.#followers.size;
  }

  /**
   * Whether gateways have subscribers besides onlookers (rule N26); undefined if that isn't known of one, and none of the
   * others has.
   */
  get occupied(): boolean | undefined {
    let isKnown = true;
    for (const { occupies } of this.#followers.values()) {
      if (occupies === true) return true;
      isKnown &&= occupies === false;
    }
    return isKnown ? false : undefined;
  }

  /** Whether a call to each gateway is in flight, so that a new entry would have to wait; true without gateways. */
  get calling(): boolean {
    for (const { calling } of this.#followers.values()) if (!calling) return false;
    return true;
  }

  /** Whether publishers have to wait for a gateway that takes its calls, but slower than they publish (rule F9). */
  full(nowMs: number): boolean {
    return this.#awaitedMs(nowMs) > 0;
  }

  /** How far each gateway is. */
  get followers(): Iterable<FollowerProgress> {
    return this.#followers.values();
  }

  /**
   * Numbers an entry, and keeps it until all gateways have taken it.
   *
   * @param top the top after the entry; undefined on a channel without history
   */
  append(entry: RelayEntry, top: StreamPosition | undefined): void {
    if (this.#followers.size === 0) this.#log.skip();
    else this.#log.append(entry, top);
  }

  /** Gives the publication at an offset other contents, if it waits for a gateway (rule ED11). */
  amend(offset: number, contents: PublicationColumns): void {
    this.#log.amend(offset, contents);
  }

  /** Blanks erased publications that wait here, and has the gateways do so (rule ED14). @param top as {@link append} takes it */
  erase(erased: Erased, top: StreamPosition | undefined): void {
    this.#log.erase(erased);
    this.append({ type: "erased", ...erased }, top);
  }

  /** Whether each gateway that follows the channel has taken the entries up to this number. */
  isTaken(number: number): boolean {
    return [...this.#followers.values()].every(({ next }) => next > number);
  }

  /**
   * Registers a gateway, durably. To a gateway that is registered already, the entries from here on are sent as to a
   * new one, and no row is written.
   *
   * @param onlooks whether its subscribers are onlookers (rule N26)
   */
  follow(gateway: string, nowMs: number, onlooks = false): FollowOutcome {
    const known = this.#followers.get(gateway);
    const next = this.sequence + 1;
    if (known === undefined && this.#followers.size >= limits.relayGatewaysMax)
      return { outcome: "full" };
    const progress = known ?? new FollowerProgress(gateway, next, true);
    progress.occupies = !onlooks;
    if (known === undefined) {
      this.#registry.register(gateway, nowMs);
      this.#followers.set(gateway, progress);
    } else {
      this.renewals++;
      progress.follow(next);
      this.#trim();
    }
    return { outcome: "following", instance: this.instance, sequence: this.sequence };
  }

  /**
   * The calls to make now. Report the result of each to {@link answered}, once: until then its gateway gets no other
   * call.
   *
   * @param top the channel's top; undefined on a channel without history
   */
  deliveries(top: StreamPosition | undefined, nowMs: number): readonly Delivery[] {
    const deliveries: Delivery[] = [];
    // Most gateways are equally far and get the same entries.
    const slices = new Map<number, LogSlice>();
    for (const progress of this.#followers.values()) {
      if (this.#registry.checkDueAtMs(progress.gateway, nowMs) <= nowMs) requestCheck(progress);
      if (
        progress.calling ||
        !this.#needsCall(progress) ||
        progress.waitsUntilMs(nowMs) !== undefined
      )
        continue;
      progress.skipTo(this.#log.first);
      const slice = slices.get(progress.next) ?? this.#log.slice(progress.next);
      slices.set(progress.next, slice);
      deliveries.push(this.#begin(progress, slice, top, nowMs));
    }
    return deliveries;
  }

  /**
   * Takes the result of a call. A second result of the same delivery is ignored.
   *
   * @param reply "failed" if it is unknown whether the gateway took the batch
   */
  answered(delivery: Delivery, reply: RelayBatchReply | "failed", nowMs: number): void {
    const { gateway, batch } = delivery;
    const progress = this.#followers.get(gateway);
    const outcome = reply === "failed" ? reply : reply.outcome;
    const ended = progress?.end(delivery);
    if (progress === undefined || ended === undefined) return;
    this.#calls?.ended(progress, outcome, nowMs);
    switch (outcome) {
      case "taken":
        if (progress.checking) this.#registry.found(gateway, nowMs);
        progress.occupies = reply === "failed" || !("onlooks" in reply);
        progress.took(batch.first + batch.entries.length);
        this.#trim();
        return;
      case "left":
        // The gateway may have said so before one of its clients subscribed again.
        if (ended.followedMeanwhile) return;
        this.renewals++;
        this.#registry.remove(gateway);
        this.#followers.delete(gateway);
        this.#trim();
        return;
      case "busy":
        this.#failed(progress, nowMs);
        return;
      case "failed":
      default:
        // The gateway may have taken the batch, or part of it. If it sent `follow` meanwhile, it has taken nothing from
        // there on.
        if (!ended.followedMeanwhile) progress.certain = false;
        this.#failed(progress, nowMs);
    }
  }

  /**
   * When to call {@link deliveries} again, ms since 1970; undefined if there is nothing to wait for. While a gateway
   * hasn't taken every entry, this is soon, so that an alarm for that time covers a crash before it (rule L4).
   */
  dueAtMs(nowMs: number): number | undefined {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const progress of this.#followers.values())
      dueMs = Math.min(dueMs, this.#dueAtMs(progress, nowMs));
    return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs;
  }

  /**
   * In how many ms a timer has to make the calls that are due soon, such as repetitions, or to end the wait of publishers
   * (rule F9); undefined for none. During a commit no call is made, however long it has been due, so the owner sets no
   * timer then.
   */
  retryInMs(nowMs: number): number | undefined {
    const dueMs = this.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY;
    const callInMs = dueMs - nowMs < limits.crashAlarmMs ? dueMs - nowMs : Number.POSITIVE_INFINITY;
    const inMs = Math.min(callInMs, this.#awaitedMs(nowMs) || Number.POSITIVE_INFINITY);
    return inMs === Number.POSITIVE_INFINITY ? undefined : inMs;
  }

  /**
   * When an alarm has to make the calls, ms since 1970; Infinity for never. Those of the timer it only makes after a
   * crash (rule L4).
   */
  alarmAtMs(nowMs: number): number {
    return Math.max(this.dueAtMs(nowMs) ?? Number.POSITIVE_INFINITY, nowMs + limits.crashAlarmMs);
  }

  /**
   * Call this when an alarm wakes a fresh instance soon after a publication. A former instance may have crashed before
   * the gateways had that publication. So this instance sends the top to the gateways that it has received no reply
   * from (rule L4).
   */
  checkAfterWaking(): void {
    for (const progress of this.#followers.values())
      if (!progress.confirmed) progress.mustCall = true;
  }

  /**
   * Checks the gateways that haven't been found to follow the channel since that time, so that those that don't follow
   * it say so.
   */
  checkFollowers(sinceMs: number): void {
    for (const progress of this.#followers.values())
      if (this.#isUnknown(progress, sinceMs)) requestCheck(progress);
  }

  /** Checks a gateway, so that it says so if it doesn't follow the channel any more. */
  check(gateway: string): void {
    const progress = this.#followers.get(gateway);
    if (progress !== undefined) requestCheck(progress);
  }

  /**
   * Whether gateways follow the channel, and each of them was found to since that time, is being checked, or can't be
   * reached.
   */
  isFollowed(sinceMs: number): boolean {
    const followers = [...this.#followers.values()];
    return (
      followers.length > 0 && !followers.some((progress) => this.#isUnknown(progress, sinceMs))
    );
  }

  /** For how long publishers may have to wait for gateways, in ms; 0 if they needn't. */
  #awaitedMs(nowMs: number): number {
    // Nearly always: there is no gateway, or the slowest isn't far behind.
    if (this.#followers.size === 0 || !this.#isFarBehind(this.#log.first)) return 0;
    let awaitedMs = 0;
    for (const progress of this.#followers.values()) {
      if (this.#isFarBehind(progress.next))
        awaitedMs = Math.max(awaitedMs, progress.awaitedMs(nowMs));
    }
    return awaitedMs;
  }

  /** Whether a gateway is far behind whose next entry is this one. */
  #isFarBehind(next: number): boolean {
    const entries = this.sequence + 1 - next;
    return entries > this.#aheadEntriesMax || this.#log.bytesFrom(next) > limits.relayAheadBytesMax;
  }

  #isUnknown(progress: FollowerProgress, sinceMs: number): boolean {
    return !progress.checking && this.#registry.isUnknownSince(progress.gateway, sinceMs);
  }

  #needsCall(progress: FollowerProgress): boolean {
    return progress.mustCall || progress.next <= this.sequence;
  }

  #begin(
    progress: FollowerProgress,
    slice: LogSlice,
    top: StreamPosition | undefined,
    nowMs: number,
  ): Delivery {
    const { entries } = slice;
    // If more entries follow, the channel's top is further than the top after these.
    const batchTop = slice.whole ? top : slice.top;
    const delivery: Delivery = {
      gateway: progress.gateway,
      batch: {
        v: 1,
        channel: this.#channel,
        instance: this.instance,
        first: progress.next,
        entries,
        certain: progress.certain,
        ...(batchTop === undefined ? {} : { top: batchTop }),
      },
    };
    progress.begin(delivery, nowMs);
    this.#calls?.begun(progress, delivery.batch, nowMs);
    return delivery;
  }

  #failed(progress: FollowerProgress, nowMs: number): void {
    progress.failed(nowMs);
    // From here on the waits are longer than an idle object lives, so the retry is noted in the registry, which
    // survives.
    if (!this.#hasHistory || progress.failures !== quickRetries + 1) return;
    progress.checking = true;
    this.#registry.retryLater(progress.gateway, nowMs + slowWaitMaxMs);
  }

  #dueAtMs(progress: FollowerProgress, nowMs: number): number {
    if (!progress.calling && !this.#needsCall(progress))
      return this.#registry.checkDueAtMs(progress.gateway, nowMs);
    const waitsUntilMs = progress.calling ? undefined : progress.waitsUntilMs(nowMs);
    if (waitsUntilMs !== undefined) return waitsUntilMs;
    return this.#hasHistory ? nowMs + limits.crashAlarmMs : Number.POSITIVE_INFINITY;
  }

  /** Drops the entries that even the slowest gateway has taken. */
  #trim(): void {
    let needed = this.sequence + 1;
    for (const { next } of this.#followers.values()) needed = Math.min(needed, next);
    this.#log.dropBefore(needed);
  }
}

/** The parts and the options of a relay. */
export interface RelaySetup extends Pick<HubSetup, "fanOut"> {
  readonly channel: string;
  /** When this instance of the channel object began, ms since 1970: later than every earlier instance. */
  readonly instance: number;
  readonly registry: GatewayRegistry;
  /** Without history a gateway couldn't read entries after a crash, so no alarm is set to wake the object after one. */
  readonly hasHistory: boolean;
  /** Hears of the calls; absent where nobody does. */
  readonly calls?: CallObserver;
}

/** Hears of a channel's calls to the gateways that follow it. One call to a gateway is in flight at a time. */
export interface CallObserver {
  begun(to: FollowerProgress, batch: RelayBatch, nowMs: number): void;
  /** The call in flight to a gateway has ended. */
  ended(to: FollowerProgress, outcome: RelayBatchReply["outcome"] | "failed", nowMs: number): void;
}

/** The outcome of {@link Relay.follow}. */
export type FollowOutcome =
  /** Every entry after `sequence` will be sent to the gateway. */
  | { readonly outcome: "following"; readonly instance: number; readonly sequence: number }
  /** `limits.relayGatewaysMax` gateways follow the channel already. */
  | { readonly outcome: "full" };

function requestCheck(progress: FollowerProgress): void {
  progress.mustCall = true;
  progress.checking = true;
}
