import { replyTo } from "../channel/carry-out.ts";
import { announce } from "../channel/relay-replies.ts";
import {
  type ClientOperation,
  isPublishing,
  type OperationReply,
} from "../contract/channel-call.ts";
import type { ChannelConfig } from "../config/config.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Payload } from "../protocol/payload.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { Channels, SubscribeReply, SubscriptionPart } from "./channels.ts";
import type { ClientObserver } from "./observer.ts";
import type { Subscription } from "./subscription.ts";
import type { Channel } from "../channel/channel.ts";
import type { SubscribeOptions } from "../channel/channel-outcomes.ts";
import { type ResolvedChannel, resolveServedChannel } from "../channel/channel-name.ts";
import type { PresenceQuestion, SharedPresence } from "../channel/shared-presence.ts";

/**
 * The channels of a session in a channel's own object: there is only that one (rule C6), and it replies at once, but to
 * questions about presence (rule P3). Except for {@link resolve}, the methods expect the name of that channel.
 */
export class SingleChannel implements Channels {
  readonly #channel: Channel;
  readonly #config: ChannelConfig;
  readonly #presence: SharedPresence;
  readonly #clock: () => number;
  readonly #clients: ClientObserver | undefined;
  readonly parts: readonly SubscriptionPart[];
  /** Subscribers that haven't been announced: their leave isn't announced either (rule O5). */
  readonly #unannounced = new Set<Subscription>();
  /** The payload that delta subscribers held when the object hibernated; undefined until one of them is restored. */
  #restoredBase: { readonly newest: Payload | undefined } | undefined;

  /**
   * @param clock ms since 1970
   * @param clients is called for subscriptions; absent where nothing observes them
   * @param parts what features keep of the subscriptions
   */
  constructor(
    channel: Channel,
    config: ChannelConfig,
    shared: SharedPresence,
    clock: () => number,
    clients?: ClientObserver,
    parts: readonly SubscriptionPart[] = [],
  ) {
    this.#clock = clock;
    this.#clients = clients;
    this.#channel = channel;
    this.#config = config;
    this.#presence = shared;
    this.parts = parts;
  }

  resolve(name: string): ResolvedChannel {
    return resolveServedChannel(name, this.#config, this.#channel.name);
  }

  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    nowMs: number,
    done: (outcome: SubscribeReply) => void,
  ): void {
    const subscribed = this.#channel.subscribe(subscription, options, nowMs);
    if (subscribed.outcome !== "subscribed") {
      done(unrecoverable);
      return;
    }
    this.#unannounced.add(subscription);
    if (!subscription.onlooks) this.#clients?.subscribed(subscription, options, subscribed);
    done(subscribed);
  }

  restore(subscription: Subscription): void {
    this.#channel.hub.add(subscription);
    if (!subscription.onlooks) for (const part of this.parts) part.restore?.(subscription);
    if (subscription.granted.hasNewest !== true) return;
    // Read once, for all that hold it.
    this.#restoredBase ??= { newest: this.#channel.newest?.data };
    subscription.deltaBase = this.#restoredBase.newest;
  }

  announce(subscription: Subscription): void {
    if (!this.#unannounced.delete(subscription)) return;
    const { announced, exclusive, info } = subscription;
    if (announced) this.#channel.announce("join", info);
    if (exclusive) this.#channel.makeExclusive(info.user, info.client);
    this.#tellParts("entryOfBegin", subscription);
  }

  unsubscribe(subscription: Subscription): void {
    if (!subscription.onlooks) for (const part of this.parts) part.leave?.(subscription);
    if (this.#unannounced.delete(subscription)) this.#channel.hub.remove(subscription);
    else this.#channel.unsubscribe(subscription);
    this.#tellParts("entryOfEnd", subscription);
  }

  #tellParts(which: "entryOfBegin" | "entryOfEnd", subscription: Subscription): void {
    if (subscription.onlooks) return;
    for (const part of this.parts) {
      const entry = part[which]?.(subscription, this.#channel.options);
      if (entry !== undefined) announce(this.#channel, entry, this.#clock());
    }
  }

  request(
    _channel: string,
    operation: ClientOperation,
    _by: Subscription | undefined,
    nowMs: number,
    done: (reply: OperationReply) => void,
  ): void {
    const channel = this.#channel;
    const { gate } = channel;
    // A publication while the backlog of the sockets is too large (rule B3).
    if (isPublishing(operation) && channel.hub.overloaded(nowMs)) done(overloaded);
    else if (gate?.whenReadable === undefined) done(replyTo(channel, operation, nowMs));
    else
      gate.whenReadable([operation], nowMs, (outcome) =>
        done(outcome === "ready" ? replyTo(channel, operation, this.#clock()) : overloaded),
      );
  }

  presence(_channel: string, question: PresenceQuestion): void {
    this.#presence.ask(question);
  }

  position(): StreamPosition | undefined {
    return this.#channel.top;
  }

  catchUp(subscription: Subscription): void {
    this.#channel.hub.catchUp(subscription);
  }
}

const overloaded = { outcome: "failed", error: errorCodes.tooManyRequests } as const;

const unrecoverable = { outcome: "failed", error: errorCodes.unrecoverablePosition } as const;
