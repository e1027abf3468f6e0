import type { Channel } from "../../channel/channel.ts";
import type { Config } from "../../config/config.ts";
import type { SharedPoll } from "../../shared-poll/shared-poll.ts";
import type { TrackedKey } from "../../shared-poll/tracked-keys.ts";
import { LocalTracks, type LocalTracksSetup } from "./local-tracks.ts";
import type { Subscription } from "../../session/subscription.ts";
import { type EpochReply, Tracking, type TrackReply } from "./tracking.ts";

/**
 * Tracking for the connections of a channel's own object. The tracked keys are in memory only: while a connection
 * tracks a key, the object doesn't hibernate.
 */
export class OwnTracking extends Tracking {
  readonly #poll: SharedPoll;
  readonly #tracks: LocalTracks;

  constructor(
    poll: SharedPoll,
    setup: Pick<LocalTracksSetup, "channel" | "queueMaxBytes" | "keysMax">,
  ) {
    super();
    this.#poll = poll;
    this.#tracks = new LocalTracks({
      ...setup,
      budget: { tracks: 0, length: 0, bases: 0 },
      track: (known, nowMs, done) => done(poll.track(ownName, known, nowMs)),
      untrack: (keys) => poll.untrack(ownName, keys),
    });
  }

  /** Whether connections wait for changes: {@link sendSlice} has to be called in another turn of the event loop. */
  get sending(): boolean {
    return this.#tracks.sending;
  }

  sendSlice(): void {
    this.#tracks.sendSlice();
  }

  /** Collects what the channel has for the connections. */
  settle(nowMs: number): void {
    const { epoch, instance } = this.#poll;
    const changes = this.#poll.takeOwn();
    this.#tracks.take({ epoch, instance, changes, mayBeLate: false }, nowMs);
  }

  epoch(_channel: string, _nowMs: number, done: (reply: EpochReply) => void): void {
    done({ outcome: "tracking", epoch: this.#poll.epoch });
  }

  track(
    subscription: Subscription,
    keys: readonly TrackedKey[],
    nowMs: number,
    done: (reply: TrackReply) => void,
  ): void {
    this.#tracks.track(subscription, keys, nowMs, done);
  }

  untrack(subscription: Subscription, keys: readonly string[]): void {
    this.#tracks.untrack(subscription, keys);
  }

  /** Ends a restored subscription, because the instance that knew its keys is gone (rule SP8). */
  restore(subscription: Subscription): void {
    if (subscription.granted.tracks === true) subscription.insufficientState();
  }

  /** A subscription has ended. */
  leave(subscription: Subscription): void {
    this.#tracks.leave(subscription);
  }
}

/** Tracking for a channel's own object; undefined unless the channel is a shared poll. */
export function ownTracking(
  { name: channel, sharedPoll, options }: Channel,
  { client }: Config,
): OwnTracking | undefined {
  const keysMax = options.sharedPoll?.maxKeysPerConnection ?? 0;
  const queueMaxBytes = client.queueMaxSizeBytes;
  return sharedPoll && new OwnTracking(sharedPoll, { channel, queueMaxBytes, keysMax });
}

/** The name of the channel's own object among those whose connections track keys. No gateway has it. */
const ownName = "";
