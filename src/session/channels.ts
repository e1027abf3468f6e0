import type { Subscription } from "./subscription.ts";
import type { ResolvedChannel } from "../channel/channel-name.ts";
import type { ClientOperation, FailedReply, OperationReply } from "../contract/channel-call.ts";
import type { SubscribeOptions, SubscribeOutcome } from "../channel/channel-outcomes.ts";
import type { ChannelOptions } from "../config/config.ts";
import type { RelayEntry } from "../contract/relay-batch.ts";
import type { PresenceQuestion } from "../channel/shared-presence.ts";
import type { StreamPosition } from "../protocol/publication.ts";

/**
 * The channels as a session sees them. A channel's own object has one channel, which replies at once, to questions for
 * who is present later; a gateway has as many as its clients name, and they reply when their objects have. Each `done` is
 * called at most once. None of these calls throws.
 */
export interface Channels {
  /** What features keep of the subscriptions here. */
  readonly parts: readonly SubscriptionPart[];
  /** Finds the channel of a name, with its options. */
  resolve(name: string): ResolvedChannel;
  /**
   * Adds a subscription. It begins within the synchronous call of `done`: the subscription gets every publication after
   * the reply's position, and none before (rule O3). After {@link unsubscribe} `done` isn't called any more.
   */
  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    nowMs: number,
    done: (outcome: SubscribeReply) => void,
  ): void;
  /** Restores a subscription after hibernation. */
  restore(subscription: Subscription): void;
  /** Announces a subscription's join, after its own subscribe reply (rule O5). */
  announce(subscription: Subscription): void;
  /** Ends a subscription, or cancels a pending one. The leave is announced if the join was (rule O5). */
  unsubscribe(subscription: Subscription): void;
  /**
   * Carries an operation out.
   *
   * @param by the client's own subscription to this channel, if there is one: a publication reaches the hub before `done`
   *           is called (rule O4)
   */
  request(
    channel: string,
    operation: ClientOperation,
    by: Subscription | undefined,
    nowMs: number,
    done: (reply: OperationReply) => void,
  ): void;
  /** Asks who is present on the channel, on all its objects (rules G6 and P3). */
  presence(channel: string, question: PresenceQuestion): void;
  /**
   * The newest position whose publications the subscribers to the channel here have been sent, or are about to be;
   * undefined without history, and while it isn't known.
   */
  position(channel: string): StreamPosition | undefined;
  /** Sends the subscriber all that the hub hasn't sent it yet: its next reply must come after that (rule O4). */
  catchUp(subscription: Subscription): void;
}

/** The reply to a subscribe that succeeded. Its position is the top when the subscription began. */
export type Subscribed = Extract<SubscribeOutcome, { readonly outcome: "subscribed" }>;

/** The outcome of a subscribe. */
export type SubscribeReply = Subscribed | FailedReply;

/** What a feature keeps of the subscriptions of one object. */
export interface SubscriptionPart {
  /** A subscription has been restored after hibernation. */
  restore?(subscription: Subscription): void;
  /** A subscription has ended, or a pending one was cancelled. */
  leave?(subscription: Subscription): void;
  /** What the parts of a subscription's channel have to know of it when it has begun; undefined for nothing. */
  entryOfBegin?(subscription: Subscription, options: ChannelOptions): RelayEntry | undefined;
  /** The same when it has ended, or never began. */
  entryOfEnd?(subscription: Subscription, options: ChannelOptions): RelayEntry | undefined;
  /** Whether the object of a channel has to know at once that a gateway has no subscriber any more. */
  awaitsEnd?(options: ChannelOptions, channel: string): boolean;
  /** On a gateway, carries out an operation that isn't simply passed on. @returns whether it does */
  request?(
    channel: string,
    operation: ClientOperation,
    nowMs: number,
    done: (reply: OperationReply) => void,
  ): boolean;
}
