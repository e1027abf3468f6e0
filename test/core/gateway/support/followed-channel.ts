import type { SubscribeOptions } from "../../../../src/channel/channel-outcomes.ts";
import { limits } from "../../../../src/limits.ts";
import type { Publication, StreamPosition } from "../../../../src/protocol/publication.ts";
import type {
  RelayBatch,
  RelayBatchReply,
  RelayEntry,
} from "../../../../src/contract/relay-batch.ts";
import { Follower } from "../../../../src/gateway/follower.ts";
import { SubscriptionMemory } from "../../../../src/gateway/memory.ts";
import type { RelayReply } from "../../../../src/contract/relay-request.ts";
import { ChannelClient } from "../../../../src/gateway/channel-client.ts";
import { configured } from "../../../support/configured.ts";
import { json } from "../../api/channel-config.ts";
import { RecordingSubscription } from "./recording-subscription.ts";
import { ScriptedPort } from "./scripted-port.ts";

/** The channel `news` as a gateway follows it. Its object is played by the test: instance 1, epoch "e". */
export class FollowedChannel {
  readonly port = new ScriptedPort();
  nowMs = 1_000_000;
  /** The last result of {@link Follower.settle}. */
  settleInMs: number | undefined;
  changes = 0;
  readonly held = new SubscriptionMemory();
  follower: Follower;
  readonly #client: object;
  readonly #amends: boolean;
  readonly #channelClient = new ChannelClient("news", this.port, () => undefined);

  /** @param amends whether publications get other contents later */
  constructor(client: object = {}, amends = false) {
    this.#client = client;
    this.#amends = amends;
    this.follower = this.#newFollower();
  }

  /** Subscribes without recovery, and answers the follow request with this position. */
  subscribed(subscriber: RecordingSubscription, position?: StreamPosition, sequence = 0): void {
    this.subscribe(subscriber);
    if (this.port.open > 0) this.port.answer(following(position, sequence));
  }

  subscribe(subscriber: RecordingSubscription, options: Partial<SubscribeOptions> = {}): void {
    const { subscription, answered } = subscriber;
    const full: SubscribeOptions = { positioned: true, mode: "stream", orFail: false, ...options };
    subscriber.onInsufficientState = () => this.follower.unsubscribe(subscriber.subscription);
    subscriber.onDisconnect = () => this.follower.unsubscribe(subscriber.subscription);
    this.follower.subscribe(subscription, full, this.nowMs, answered);
    this.settle();
  }

  /** @param sent fields that differ from a certain batch of instance 1 */
  take(
    first: number,
    entries: readonly RelayEntry[],
    sent: Partial<RelayBatch> = {},
  ): RelayBatchReply {
    const batch = {
      v: 1,
      channel: "news",
      instance: 1,
      first,
      entries,
      certain: true,
      ...sent,
    } as const;
    const answer = this.follower.receive(batch, this.nowMs);
    this.settle();
    return answer;
  }

  /** A batch of publications with history, up to the top, which is the last of them by default. */
  takeStream(
    first: number,
    offsets: readonly number[],
    sent: Partial<RelayBatch> = {},
  ): RelayBatchReply {
    const top = at(offsets.at(-1) ?? 0);
    return this.take(first, offsets.map(entry), { top, ...sent });
  }

  settle(): void {
    this.#channelClient.settle(this.nowMs);
    this.settleInMs = this.follower.settle(this.nowMs);
  }

  /** The object is overloaded, for as long as it is asked. */
  refuse(): void {
    while (this.port.open > 0) {
      this.port.refuse();
      this.settle();
      this.nowMs += limits.overloadRetryMsMax;
      this.settle();
    }
  }

  /** Loses everything but the cursors that the subscriptions saved. */
  hibernate(...subscribers: readonly RecordingSubscription[]): void {
    this.follower = this.#newFollower();
    for (const subscriber of subscribers) {
      subscriber.wake();
      this.follower.restore(subscriber.subscription);
    }
  }

  #newFollower(): Follower {
    return new Follower("news", {
      client: configured({ client: this.#client }).client,
      amends: () => this.#amends,
      memory: this.held,
      request: (_, requests) => this.#channelClient.ask(requests),
      changed: () => {
        this.changes++;
      },
    });
  }
}

/** A follower with one subscriber, which receives joins and leaves. */
export function subscribed(
  position?: StreamPosition,
  client: object = {},
  sequence = 0,
  traits: object = {},
): { channel: FollowedChannel; subscriber: RecordingSubscription } {
  const channel = new FollowedChannel(client);
  const subscriber = new RecordingSubscription("42", { hearsJoinLeave: true, ...traits });
  channel.subscribed(subscriber, position, sequence);
  return { channel, subscriber };
}

/** The stream's place. */
export function at(offset: number, epoch = "e"): StreamPosition {
  return { offset, epoch };
}

/** The channel object's reply to `follow`. */
export function following(position?: StreamPosition, sequence = 0, instance = 1): RelayReply {
  const stands = { outcome: "following", instance, sequence } as const;
  return position === undefined ? stands : { ...stands, position };
}

/** The channel object's reply to a read: these publications, up to the top. */
export function read(offsets: readonly number[], top: StreamPosition): RelayReply {
  return { outcome: "recovered", publications: offsets.map(publication), position: top };
}

/** The publication at an offset; its data is the offset. */
export function publication(offset: number): Publication {
  return { data: json(String(offset)), offset };
}

/** The publication as an entry. */
export function entry(offset: number): RelayEntry {
  return { type: "publication", publication: publication(offset) };
}

/** A publication without history. */
export function said(text: string): RelayEntry {
  return { type: "publication", publication: { data: json(text), offset: 0 } };
}
