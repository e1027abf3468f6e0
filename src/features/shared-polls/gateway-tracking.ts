import { errorOf } from "../../contract/channel-call.ts";
import type { KeyChange, KnownVersion, PollBatch, PollBatchReply } from "./poll-batch.ts";
import type { RelayReply, RelayRequest } from "../../contract/relay-request.ts";
import { pollLimits } from "./limits.ts";
import { LocalTracks, type ObjectTracking, type StoredTracks } from "./local-tracks.ts";
import type { ObjectPart } from "../../object/part.ts";
import type { Subscription } from "../../session/subscription.ts";
import type { EpochReply, Tracking, TrackReply } from "./tracking.ts";
import type { TrackedKey } from "./tracked-keys.ts";

declare module "../../contract/relay-request.ts" {
  interface RelayRequests {
    /**
     * Tracks keys for a client, which has these versions: the gateway is called with their changes. Without keys, only
     * the epoch is asked for. `number` grows from one request of the gateway to the next; absent: none is late.
     */
    readonly track: { readonly known: readonly KnownVersion[]; readonly number?: number };
    /**
     * Nobody at the gateway tracks these keys any more. With a `number` below that of a `track` that was carried out, the
     * request is late, and does nothing: the gateway may track the keys again.
     */
    readonly untrack: { readonly keys: readonly string[]; readonly number?: number };
  }
  interface RelayOutcomes {
    /** `newer`: those of the keys of which the client has an older version, as far as the channel's object has them. */
    readonly tracking: {
      readonly epoch: string;
      /** When the channel's instance began, ms since 1970: see `PollBatch`. */
      readonly instance: number;
      readonly newer: readonly KeyChange[];
    };
    readonly untracked: object;
  }
}

/**
 * Tracking for the connections of a gateway, on all shared polls. The gateway reports to the channels' objects which
 * keys are tracked here, and they call it with the changes (rules SP7 and SP8). The tracked keys of each subscription
 * are stored, so that the gateway can hibernate.
 */
export class GatewayTracking implements Tracking, ObjectPart {
  readonly #setup: GatewayTrackingSetup;
  readonly #channels = new Map<string, LocalTracks>();
  readonly #budget = { tracks: 0, length: 0, bases: 0 };
  /** The channels with connections that wait for changes, in the order in which they send their slices. */
  readonly #sending = new Set<LocalTracks>();
  /** Subscriptions whose tracks have changed since they were stored. */
  readonly #unsaved = new Set<Subscription>();
  /** The number of the last request to a channel's object. */
  #number: number;

  constructor(setup: GatewayTrackingSetup) {
    this.#setup = setup;
    this.#number = setup.startedAtMs ?? 0;
  }

  /** Whether connections wait for changes: {@link sendSlice} has to be called in another turn of the event loop. */
  get sending(): boolean {
    return this.#sending.size > 0;
  }

  /** Sends one slice of one channel: the channels take turns. */
  sendSlice(): void {
    const [tracks] = this.#sending;
    if (tracks === undefined) return;
    tracks.sendSlice();
    this.#sending.delete(tracks);
    this.#noteSending(tracks);
  }

  /** Whether so much waits to be sent that {@link polled} takes nothing (rule SP7). */
  get full(): boolean {
    let length = 0;
    for (const { waitingLength } of this.#sending) length += waitingLength;
    return length > pollLimits.keyFramesLengthMax;
  }

  polled(batch: PollBatch, nowMs: number): PollBatchReply {
    return this.full ? { outcome: "busy" } : this.receive(batch, nowMs);
  }

  /** Takes the changes that a channel's object sends. */
  receive({ channel, instance, epoch, changes, since }: PollBatch, nowMs: number): PollBatchReply {
    const tracks = this.#channels.get(channel);
    const mayBeLate = since === undefined || since !== tracks?.takesSinceMs;
    const untracked = tracks?.receive({ instance, epoch, changes, mayBeLate }, nowMs);
    if (tracks === undefined || untracked === undefined) return { outcome: "left" };
    this.#noteSending(tracks);
    const { takesSinceMs = nowMs } = tracks;
    return {
      outcome: "taken",
      since: takesSinceMs,
      ...(untracked.length === 0 ? {} : { untracked }),
    };
  }

  epoch(channel: string, _nowMs: number, done: (reply: EpochReply) => void): void {
    this.#setup.request(channel, { method: "track", known: [] }, (reply) =>
      done(trackingReply(reply)),
    );
  }

  track(
    subscription: Subscription,
    keys: readonly TrackedKey[],
    nowMs: number,
    done: (reply: TrackReply) => void,
  ): void {
    this.#tracks(subscription.channel).track(subscription, keys, nowMs, done);
  }

  untrack(subscription: Subscription, keys: readonly string[]): void {
    this.#channels.get(subscription.channel)?.untrack(subscription, keys);
  }

  restore(subscription: Subscription): void {
    const { granted, channel, info } = subscription;
    if (granted.tracks !== true) return;
    const stored = this.#setup.rows?.tracksOf(info.client, channel);
    if (stored === undefined) subscription.insufficientState();
    else this.#tracks(channel).trackStored(subscription, stored);
  }

  /** A subscription has ended. */
  leave(subscription: Subscription): void {
    const { channel, info } = subscription;
    if (subscription.granted.pollEpoch === undefined) return;
    const tracks = this.#channels.get(channel);
    tracks?.leave(subscription);
    this.#unsaved.delete(subscription);
    this.#setup.rows?.store(info.client, channel, undefined);
    if (tracks?.idle === true) this.#channels.delete(channel);
  }

  /** Stores what has changed. */
  settle(): void {
    for (const subscription of this.#unsaved) {
      const { channel, info } = subscription;
      const stored = this.#channels.get(channel)?.stored(subscription);
      this.#setup.rows?.store(info.client, channel, stored);
    }
    this.#unsaved.clear();
  }

  keepOnly(connected: ReadonlySet<string>): void {
    this.#setup.rows?.keepOnly(connected);
  }

  #noteSending(tracks: LocalTracks): void {
    if (tracks.sending) this.#sending.add(tracks);
    else this.#sending.delete(tracks);
  }

  #tracks(channel: string): LocalTracks {
    const before = this.#channels.get(channel);
    if (before !== undefined) return before;
    const { request, queueMaxBytes, keysMax } = this.#setup;
    const tracks = new LocalTracks({
      channel,
      queueMaxBytes,
      keysMax: keysMax(channel),
      budget: this.#budget,
      track: (known, _nowMs, done) =>
        request(channel, { method: "track", known, number: ++this.#number }, (reply) => {
          done(trackingReply(reply));
          this.#noteSending(tracks);
        }),
      untrack: (keys) =>
        request(channel, { method: "untrack", keys, number: ++this.#number }, ignoreReply),
      changed: (subscription) => this.#unsaved.add(subscription),
    });
    this.#channels.set(channel, tracks);
    return tracks;
  }
}

interface GatewayTrackingSetup {
  /** Sends a request to a channel's object, after those before it. */
  readonly request: (
    channel: string,
    request: RelayRequest,
    done: (reply: RelayReply) => void,
  ) => void;
  readonly queueMaxBytes: number;
  /** The most keys that one connection tracks on a channel. */
  readonly keysMax: (channel: string) => number;
  /**
   * When the gateway's instance began, ms since 1970: the first number of its requests, so that those of the next instance
   * are greater. Absent in tests, whose gateways don't hibernate.
   */
  readonly startedAtMs?: number;
  /** Absent in tests, whose gateways don't hibernate. */
  readonly rows?: TrackRows;
}

/** Where a gateway stores what its subscriptions track. */
export interface TrackRows {
  /** Reads what a connection tracks on a channel; undefined if there is nothing. */
  tracksOf(client: string, channel: string): StoredTracks | undefined;
  /** Stores it; undefined deletes it. */
  store(client: string, channel: string, tracks: StoredTracks | undefined): void;
  /** Deletes it for all other connections. */
  keepOnly(clients: ReadonlySet<string>): void;
}

function trackingReply(reply: RelayReply): ObjectTracking {
  return reply.outcome === "tracking" ? reply : { outcome: "failed", error: errorOf(reply) };
}

function ignoreReply(): void {
  // A key that is untracked in vain is named by the reply to the next batch that brings it (rule SP8).
}
