import { limits } from "../limits.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { RelayBatchReply, RelayEntry } from "../contract/relay-batch.ts";
import {
  type Delivery,
  FollowerProgress,
  quickRetries,
  slowWaitMaxMs,
} from "./follower-progress.ts";
import type { GatewayRegistry } from "./gateway-registry.ts";
import { type LogSlice, RelayLog } from "./relay-log.ts";

export interface RelaySetup {
  readonly channel: string;
  /** When this instance of the channel's object began, ms since 1970: later than every earlier one. */
  readonly instance: number;
  readonly registry: GatewayRegistry;
  /** Without history nothing could be told after a crash, so nothing is done to be woken after one. */
  readonly hasHistory: boolean;
}

export type FollowOutcome =
  /** Everything after `sequence` will be sent. */
  | { readonly outcome: "following"; readonly instance: number; readonly sequence: number }
  /** As many gateways follow the channel as may. */
  | { readonly outcome: "full" };

/**
 * The channel's side of the relay (rules L1 to L5): numbers what happens, and says which gateway is to be called with what.
 * Making the calls is the platform's part; what came of each goes to {@link answered}. Everything here is synchronous.
 */
export class Relay {
  readonly instance: number;
  readonly #channel: string;
  readonly #registry: GatewayRegistry;
  readonly #hasHistory: boolean;
  readonly #log = new RelayLog();
  readonly #followers = new Map<string, FollowerProgress>();

  constructor({ channel, instance, registry, hasHistory }: RelaySetup) {
    this.#channel = channel;
    this.instance = instance;
    this.#registry = registry;
    this.#hasHistory = hasHistory;
    for (const gateway of registry.gateways)
      this.#followers.set(gateway, new FollowerProgress(gateway, 1, false));
  }

  /** The number of the last entry; 0 before the first. */
  get sequence(): number {
    return this.#log.last;
  }

  /** Who follows the channel. */
  get gateways(): readonly string[] {
    return [...this.#followers.keys()];
  }

  /** How many follow the channel. */
  get size(): number {
    return this.#followers.size;
  }

  /**
   * Numbers what happened. It is kept until all gateways have it.
   *
   * @param top where the stream stands after it; undefined on a channel without history
   */
  add(entry: RelayEntry, top: StreamPosition | undefined): void {
    if (this.#followers.size === 0) this.#log.skip();
    else this.#log.append(entry, top);
  }

  /** Registers a gateway, durably. For one that is registered everything begins anew here, but no row is written. */
  follow(gateway: string, nowMs: number): FollowOutcome {
    const progress = this.#followers.get(gateway);
    const next = this.sequence + 1;
    if (progress === undefined) {
      if (this.#followers.size >= limits.relayGatewaysMax) return { outcome: "full" };
      this.#registry.add(gateway, nowMs);
      this.#followers.set(gateway, new FollowerProgress(gateway, next, true));
    } else {
      progress.follow(next);
      this.#trim();
    }
    return { outcome: "following", instance: this.instance, sequence: this.sequence };
  }

  /**
   * The calls to make now. Each must be answered, once: until then its gateway gets no other.
   *
   * @param top where the stream stands; undefined on a channel without history
   */
  deliveries(top: StreamPosition | undefined, nowMs: number): readonly Delivery[] {
    const deliveries: Delivery[] = [];
    // Most gateways are equally far and get the same entries.
    const slices = new Map<number, LogSlice>();
    for (const progress of this.#followers.values()) {
      if (this.#registry.checkDueAtMs(progress.gateway) <= nowMs) requestCheck(progress);
      if (
        progress.calling ||
        !this.#needsCall(progress) ||
        progress.waitsUntilMs(nowMs) !== undefined
      )
        continue;
      progress.skipTo(this.#log.first);
      const slice = slices.get(progress.next) ?? this.#log.slice(progress.next);
      slices.set(progress.next, slice);
      deliveries.push(this.#begin(progress, slice, top));
    }
    return deliveries;
  }

  /** What came of a call. A second answer to it is ignored. */
  answered(delivery: Delivery, reply: RelayBatchReply | "failed", nowMs: number): void {
    const { gateway, batch } = delivery;
    const progress = this.#followers.get(gateway);
    const ended = progress?.end(delivery);
    if (progress === undefined || ended === undefined) return;
    switch (reply === "failed" ? reply : reply.outcome) {
      case "taken":
        if (progress.checking) this.#registry.found(gateway, nowMs);
        progress.took(batch.first + batch.entries.length);
        this.#trim();
        return;
      case "left":
        // It may have said so before somebody there wanted the channel again.
        if (ended.followedMeanwhile) return;
        this.#registry.remove(gateway);
        this.#followers.delete(gateway);
        this.#trim();
        return;
      case "busy":
        this.#failed(progress, nowMs);
        return;
      case "failed":
      default:
        // It may have taken everything, or part of it. From where it followed meanwhile, it has taken nothing.
        if (!ended.followedMeanwhile) progress.certain = false;
        this.#failed(progress, nowMs);
    }
  }

  /**
   * When {@link deliveries} is worth a call again, ms since 1970; undefined when there is nothing to wait for. While a
   * gateway has not taken everything, this is soon, so that an alarm for then covers a crash before (rule L4).
   */
  dueAtMs(nowMs: number): number | undefined {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const progress of this.#followers.values())
      dueMs = Math.min(dueMs, this.#dueAtMs(progress, nowMs));
    return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs;
  }

  /**
   * To be called when an alarm wakes a fresh instance soon after a publication: a former one may have crashed before the
   * gateways had it, so those that were not heard since are told where the stream stands.
   */
  checkAfterWaking(): void {
    for (const progress of this.#followers.values())
      if (!progress.confirmed) progress.mustCall = true;
  }

  /** Asks the gateways that were not heard since then whether they still follow, so that those that don't say so. */
  checkFollowers(sinceMs: number): void {
    for (const progress of this.#followers.values())
      if (this.#isUnknown(progress, sinceMs)) requestCheck(progress);
  }

  /** Whether some gateway follows the channel, or is being asked whether it still does, since then. */
  isFollowed(sinceMs: number): boolean {
    const followers = [...this.#followers.values()];
    return (
      followers.length > 0 && !followers.some((progress) => this.#isUnknown(progress, sinceMs))
    );
  }

  #isUnknown(progress: FollowerProgress, sinceMs: number): boolean {
    return !progress.checking && this.#registry.isUnknownSince(progress.gateway, sinceMs);
  }

  #needsCall(progress: FollowerProgress): boolean {
    return progress.mustCall || progress.next <= this.sequence;
  }

  #begin(progress: FollowerProgress, slice: LogSlice, top: StreamPosition | undefined): Delivery {
    const { entries } = slice;
    // When more entries follow, the stream has gone on since the last of these.
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
    progress.begin(delivery);
    return delivery;
  }

  #failed(progress: FollowerProgress, nowMs: number): void {
    progress.failed(nowMs);
    // From here on the waits are longer than an idle object lives, so what is owed must be noted where it survives.
    if (!this.#hasHistory || progress.failures !== quickRetries + 1) return;
    progress.checking = true;
    this.#registry.retryLater(progress.gateway, nowMs + slowWaitMaxMs);
  }

  #dueAtMs(progress: FollowerProgress, nowMs: number): number {
    if (!progress.calling && !this.#needsCall(progress))
      return this.#registry.checkDueAtMs(progress.gateway);
    const waitsUntilMs = progress.calling ? undefined : progress.waitsUntilMs(nowMs);
    if (waitsUntilMs !== undefined) return waitsUntilMs;
    return this.#hasHistory ? nowMs + limits.crashAlarmMs : Number.POSITIVE_INFINITY;
  }

  /** Drops what the slowest gateway has taken. */
  #trim(): void {
    let needed = this.sequence + 1;
    for (const { next } of this.#followers.values()) needed = Math.min(needed, next);
    this.#log.dropBefore(needed);
  }
}

function requestCheck(progress: FollowerProgress): void {
  progress.mustCall = true;
  progress.checking = true;
}
