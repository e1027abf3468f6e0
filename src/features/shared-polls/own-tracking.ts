import type { Config } from "../../config/config.ts";
import type { SharedPollOptions } from "./config.ts";
import type { SharedPoll } from "./shared-poll.ts";
import { LocalTracks } from "./local-tracks.ts";
import type { ObjectPart } from "../../object/part.ts";
import type { Subscription } from "../../session/subscription.ts";
import type { EpochReply, Tracking } from "./tracking.ts";

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
