import { changeBytes, type KeyChange, type KnownVersion } from "./poll-batch.ts";
import { fullForDelta } from "../../delta/delta-chain.ts";
import { pollLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import type { FailedReply } from "../../contract/channel-call.ts";
import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import { KeyFrames } from "./key-frames.ts";
import { type TrackedKey, TrackedKeys } from "./tracked-keys.ts";
import type { Subscription } from "../../session/subscription.ts";
import type { TrackReply, EpochReply, Tracking } from "./tracking.ts";
import type { Config } from "../../config/config.ts";
import type { SharedPollOptions } from "./config.ts";
import type { SharedPoll } from "./shared-poll.ts";
import type { ObjectPart } from "../../object/part.ts";

/**
 * The keys that the connections of one object track on one shared poll, and the fan-out to them. The channel's own
 * object and gateways both use it (rules SP2, SP6 to SP9). The channel's object is told every key that a connection
 * tracks here. If another instance of it answers, or the epoch of the versions is another one, all subscriptions end
 * with 2500, so that their clients track the keys again.
 */
export class LocalTracks {
  readonly #setup: LocalTracksSetup;
  readonly #tracked: TrackedKeys<Subscription>;
  readonly #frames: KeyFrames<Subscription>;
  /** The instance of the channel's object that knows what is tracked here; undefined before its first reply. */
  #instance: number | undefined;
  /** The epoch that was told last, while all live subscriptions are of it; undefined if that has to be looked at. */
  #epoch: string | undefined;
  /** Subscriptions that track keys, or have asked to. */
  readonly #live = new Set<Subscription>();
  /** When the first changes were taken, ms since 1970; undefined before. */
  #takesSinceMs: number | undefined;
  /** How many requests to track are under way. */
  #asking = 0;

  constructor(setup: LocalTracksSetup) {
    this.#setup = setup;
    this.#frames = new KeyFrames(setup.channel, setup.queueMaxBytes);
    this.#tracked = new TrackedKeys(() => pollLimits.keyBasesLengthMax - setup.budget.bases);
  }

  /** Whether nothing is tracked, asked or sent any more. */
  get idle(): boolean {
    return this.#tracked.size === 0 && this.#asking === 0 && !this.#frames.sending;
  }

  /** Whether connections wait for changes: {@link sendSlice} has to be called in another turn of the event loop. */
  get sending(): boolean {
    return this.#frames.sending;
  }

  /** When the first changes were taken here, ms since 1970; undefined before. */
  get takesSinceMs(): number | undefined {
    return this.#takesSinceMs;
  }

  sendSlice(): void {
    this.#frames.sendSlice();
  }

  /** The characters of the data that waits to be sent. */
  get waitingLength(): number {
    return this.#frames.length;
  }

  /** See `Tracking.track`. */
  track(
    subscription: Subscription,
    keys: readonly TrackedKey[],
    nowMs: number,
    done: (reply: TrackReply) => void,
  ): void {
    const refused = this.#refusal(subscription, keys);
    if (refused !== undefined) {
      done({ outcome: "failed", error: refused });
      return;
    }
    if (keys.length === 0) {
      done({ outcome: "tracking", newer: [] });
      return;
    }
    this.#begin(subscription);
    const added = keys.filter(({ key }) => !this.#tracked.tracks(subscription, key));
    // Changes may come before the reply, and only tracked keys take them.
    this.#counted(() => {
      for (const key of keys) {
        // What still waits isn't newer than what the client has got from elsewhere.
        if (this.#tracked.track(subscription, key)) this.#frames.drop(subscription, key.key);
      }
    });
    subscription.tracksKeys(true);
    this.#asking++;
    this.#setup.track(keys, nowMs, (reply) => {
      this.#asking--;
      if (reply.outcome === "failed") {
        // Only what was added: the others were granted before.
        this.untrack(
          subscription,
          added.map(({ key }) => key),
        );
        done(reply);
        return;
      }
      if (!this.#isTracking(subscription, reply)) {
        done({ outcome: "failed", error: errorCodes.unrecoverablePosition });
        return;
      }
      this.#setup.changed?.(subscription);
      done({ outcome: "tracking", newer: this.#newer(subscription, reply.newer) });
    });
  }

  /** See `Tracking.untrack`. */
  untrack(subscription: Subscription, keys: readonly string[]): void {
    for (const key of keys) this.#frames.drop(subscription, key);
    const gone = this.#counted(() =>
      keys.filter((key) => this.#tracked.untrack(subscription, key)),
    );
    if (gone.length > 0) this.#setup.untrack(gone);
    if (keys.length > 0) this.#tracksLess(subscription);
  }

  /** A subscription has ended. */
  leave(subscription: Subscription): void {
    const { count } = this.#tracked.of(subscription);
    this.#live.delete(subscription);
    this.#frames.leave(subscription);
    if (count === 0) return;
    const gone = this.#counted(() => this.#tracked.leave(subscription));
    if (gone.length > 0) this.#setup.untrack(gone);
    this.#setup.changed?.(subscription);
  }

  /** Tracks again what a subscription tracked, as {@link stored} said. */
  trackStored(subscription: Subscription, { keys, instance }: StoredTracks): void {
    this.#instance ??= instance;
    this.#begin(subscription);
    this.#counted(() => {
      for (const key of keys) this.#tracked.restore(subscription, key);
    });
  }

  /** The keys of a subscription, to be stored; undefined if it has none, or the channel's object may not know them. */
  stored(subscription: Subscription): StoredTracks | undefined {
    if (this.#instance === undefined || this.#tracked.of(subscription).count === 0)
      return undefined;
    return { instance: this.#instance, keys: this.#tracked.stored(subscription) };
  }

  /**
   * Takes changes of the channel's object, and collects them for those who track the keys.
   *
   * @returns the keys that nobody tracks; undefined if nobody tracks anything here any more
   */
  receive(
    { instance, epoch, changes, mayBeLate }: TakenChanges,
    nowMs: number,
  ): readonly string[] | undefined {
    this.#takesSinceMs ??= nowMs;
    this.#expire(nowMs);
    if (this.#live.size === 0) return undefined;
    this.#instance ??= instance;
    if (this.#instance === instance) this.#endOthers(epoch);
    else this.#endAll();
    if (this.#tracked.size === 0) return undefined;
    const untracked: string[] = [];
    for (const change of changes) {
      if (!this.#tracked.has(change.key)) {
        if (change.removed !== true) untracked.push(change.key);
        continue;
      }
      const receipts = this.#counted(() => this.#tracked.change(change, mayBeLate));
      for (const { tracker, base } of receipts) {
        this.#frames.collect(tracker, change, base);
        // Otherwise the key would be tracked again when the gateway wakes.
        if (change.removed === true) this.#tracksLess(tracker);
      }
    }
    return untracked;
  }

  /** Ends what has expired: its signature isn't valid any more, so nothing of it is sent (rule SP2). */
  #expire(nowMs: number): void {
    const { trackers, keys } = this.#counted(() => this.#tracked.expire(nowMs));
    if (trackers.size === 0) return;
    if (keys.length > 0) this.#setup.untrack(keys);
    for (const each of trackers) this.#tracksLess(each);
  }

  #tracksLess(subscription: Subscription): void {
    if (this.#tracked.of(subscription).count === 0) subscription.tracksKeys(false);
    this.#setup.changed?.(subscription);
  }

  #refusal(subscription: Subscription, keys: readonly TrackedKey[]): ErrorCode | undefined {
    const { keysMax, budget } = this.#setup;
    const own = this.#tracked.of(subscription);
    const added = keys.filter(({ key }) => !this.#tracked.tracks(subscription, key));
    const length = added.reduce((sum, { key }) => sum + key.length, 0);
    if (own.count + added.length > keysMax || own.length + length > pollLimits.trackRowLengthMax)
      return errorCodes.limitExceeded;
    const isFull =
      budget.tracks + added.length > pollLimits.tracksMax ||
      budget.length + length > pollLimits.tracksLengthMax;
    return isFull ? errorCodes.tooManyRequests : undefined;
  }

  /** Does something that tracks more or less, and counts that for the object. */
  #counted<Result>(work: () => Result): Result {
    const { budget } = this.#setup;
    const { size, length, basesLength } = this.#tracked;
    const result = work();
    budget.tracks += this.#tracked.size - size;
    budget.length += this.#tracked.length - length;
    budget.bases += this.#tracked.basesLength - basesLength;
    return result;
  }

  /** Whether the reply is of the instance and of the epoch that the subscription counts on; ends what it isn't. */
  #isTracking(subscription: Subscription, { instance, epoch }: TrackedBy): boolean {
    // It may have ended meanwhile.
    if (!this.#live.has(subscription)) return false;
    this.#instance ??= instance;
    if (this.#instance !== instance) {
      this.#endAll();
      return false;
    }
    if (subscription.granted.pollEpoch === epoch) return true;
    subscription.insufficientState();
    return false;
  }

  /**
   * Takes the changes of a reply: as many as a reply to the client may hold are returned, and the rest becomes pushes.
   */
  #newer(subscription: Subscription, changes: readonly KeyChange[]): readonly KeyChange[] {
    const replied: KeyChange[] = [];
    let bytes = 0;
    for (const change of changes) {
      if (!this.#counted(() => this.#tracked.note(subscription, change))) continue;
      const { delta, codec } = subscription;
      const sent = delta ? fullForDelta(change, codec.deltaForm) : change;
      bytes += changeBytes(sent);
      if (bytes > limits.batchBytesMax) this.#frames.collect(subscription, change);
      else {
        // An older change of the key may wait to be sent.
        this.#frames.drop(subscription, change.key);
        replied.push(sent);
      }
    }
    return replied;
  }

  /** The subscription tracks keys from here on. It may have begun in another epoch than the last that was told. */
  #begin(subscription: Subscription): void {
    if (!this.#live.has(subscription)) this.#epoch = undefined;
    this.#live.add(subscription);
  }

  /** Ends the subscriptions of another epoch; which one is new is looked at only once. */
  #endOthers(epoch: string): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    for (const each of this.#live) if (each.granted.pollEpoch !== epoch) each.insufficientState();
  }

  #endAll(): void {
    for (const each of this.#live) each.insufficientState();
    this.#instance = undefined;
  }
}

/** The sums over all shared polls of one object, for its limits. */
interface TrackBudget {
  /** The keys that all connections of the object track, each connection counted. */
  tracks: number;
  /** The characters of these keys. */
  length: number;
  /** The characters of the values that are kept as bases of deltas. */
  bases: number;
}

export interface LocalTracksSetup {
  readonly channel: string;
  readonly queueMaxBytes: number;
  /** The most keys that one connection tracks. */
  readonly keysMax: number;
  readonly budget: TrackBudget;
  /** Has the channel's object track keys for a connection here. */
  readonly track: (
    known: readonly KnownVersion[],
    nowMs: number,
    done: (reply: ObjectTracking) => void,
  ) => void;
  /** Tells the channel's object that nobody here tracks these keys any more. */
  readonly untrack: (keys: readonly string[]) => void;
  /** Called when what a subscription tracks has changed; absent where it isn't stored. */
  readonly changed?: (subscription: Subscription) => void;
}

/** The instance of the channel's object, and the epoch of its versions. */
interface TrackedBy {
  readonly instance: number;
  readonly epoch: string;
}

/** The reply of a channel's object to a request to track keys. */
export type ObjectTracking =
  | (TrackedBy & { readonly outcome: "tracking"; readonly newer: readonly KeyChange[] })
  | FailedReply;

/** Changes of the channel's object. */
export interface TakenChanges extends TrackedBy {
  readonly changes: readonly KeyChange[];
  /** Whether they may be of a call that was made before this object hibernated, so that newer ones have been sent. */
  readonly mayBeLate: boolean;
}

/** The keys that a subscription tracks, and the instance of the channel's object that knows them. */
export interface StoredTracks {
  readonly instance: number;
  readonly keys: readonly TrackedKey[];
}

/**
 * Tracking for the connections of a channel's own object. The tracked keys are in memory only: while a connection
 * tracks a key, the object doesn't hibernate.
 */
export class OwnTracking extends LocalTracks implements Tracking, ObjectPart {
  readonly #poll: SharedPoll;

  constructor(poll: SharedPoll, options: SharedPollOptions, channel: string, { client }: Config) {
    super({
      channel,
      queueMaxBytes: client.queueMaxSizeBytes,
      keysMax: options.maxKeysPerConnection,
      budget: { tracks: 0, length: 0, bases: 0 },
      track: (known, nowMs, done) => done(poll.track(ownName, known, nowMs)),
      untrack: (keys) => poll.untrack(ownName, keys),
    });
    this.#poll = poll;
  }

  /** Collects what the channel has for the connections. */
  settle(nowMs: number): void {
    const { epoch, instance } = this.#poll;
    const changes = this.#poll.takeOwn();
    this.receive({ epoch, instance, changes, mayBeLate: false }, nowMs);
  }

  epoch(_channel: string, _nowMs: number, done: (reply: EpochReply) => void): void {
    done({ outcome: "tracking", epoch: this.#poll.epoch });
  }

  /** Ends a restored subscription, because the instance that knew its keys is gone (rule SP8). */
  restore(subscription: Subscription): void {
    if (subscription.granted.tracks === true) subscription.insufficientState();
  }
}

/** The name of the channel's own object among those whose connections track keys. No gateway has it. */
const ownName = "";
