import type { HistoryQuery, PublicationRequest } from "../contract/channel-call.ts";
import { type MapChange, type MapPageQuery, removalOf } from "../contract/map-call.ts";
import type { ChannelConfig } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, StreamPosition } from "../protocol/publication.ts";
import type {
  Channels,
  HistoryReply,
  MapPageReply,
  MapStreamPage,
  PublishReply,
  SubscribeReply,
} from "./channels.ts";
import type { ClientTrail } from "./client-trail.ts";
import { leavesKey } from "./map-commands.ts";
import type { OwnTracking } from "./own-tracking.ts";
import type { Subscription } from "./subscription.ts";
import type { Channel, SubscribeOptions } from "../channel/channel.ts";
import { changeError, historyError } from "../channel/outcome-error.ts";
import { type ResolvedChannel, resolveServedChannel } from "../channel/channel-name.ts";
import type { PresenceQuestion, SharedPresence } from "../channel/shared-presence.ts";

/**
 * The channels of a session in a channel's own object: there is only that one (rule C6), and it replies at once,
 * but to questions for who is present (rule P3). Except for {@link find}, the methods expect the name of that channel.
 */
export class SingleChannel implements Channels {
  readonly tracking: OwnTracking | undefined;
  readonly #channel: Channel;
  readonly #config: ChannelConfig;
  readonly #presence: SharedPresence;
  readonly #clock: () => number;
  readonly #trail: ClientTrail | undefined;
  /** Subscribers that haven't been announced: their leave isn't announced either (rule O5). */
  readonly #unannounced = new Set<Subscription>();
  /** The payload that delta subscribers held when the object hibernated; undefined until one of them is restored. */
  #restoredBase: { readonly newest: Payload | undefined } | undefined;

  /**
   * @param clock    ms since 1970
   * @param trail    remembers subscriptions; absent where nobody asks for them
   * @param tracking the keys that are tracked here; absent unless the channel is a shared poll
   */
  constructor(
    channel: Channel,
    config: ChannelConfig,
    shared: SharedPresence,
    clock: () => number,
    trail?: ClientTrail,
    tracking?: OwnTracking,
  ) {
    this.#clock = clock;
    this.#trail = trail;
    this.#channel = channel;
    this.#config = config;
    this.#presence = shared;
    this.tracking = tracking;
  }

  find(name: string): ResolvedChannel {
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
      done(failed(errorCodes.unrecoverablePosition));
      return;
    }
    this.#unannounced.add(subscription);
    this.#trail?.subscribed(subscription, options, subscribed);
    done(subscribed);
  }

  restore(subscription: Subscription): void {
    this.#channel.hub.add(subscription);
    this.tracking?.restore(subscription);
    if (subscription.granted.hasNewest !== true) return;
    // Read once, for all that hold it.
    this.#restoredBase ??= { newest: this.#channel.newest?.data };
    subscription.deltaBase = this.#restoredBase.newest;
  }

  announce(subscription: Subscription): void {
    if (!this.#unannounced.delete(subscription)) return;
    const { announced, exclusive, info } = subscription;
    if (announced) this.#channel.announce("join", info);
    if (!subscription.hidden) this.#channel.teller?.here(info);
    if (exclusive) this.#channel.makeExclusive(info.user, info.client);
  }

  unsubscribe(subscription: Subscription): void {
    this.tracking?.leave(subscription);
    if (subscription.begun && !subscription.hidden) this.#channel.teller?.away(subscription.info);
    if (this.#unannounced.delete(subscription)) this.#channel.hub.remove(subscription);
    else this.#channel.unsubscribe(subscription);
    if (leavesKey(subscription, this.find(this.#channel.name)))
      this.#channel.map?.change(removalOf(subscription.info), subscription.info, this.#clock());
  }

  publish(
    _channel: string,
    request: PublicationRequest,
    info: ClientInfo,
    _subscription: Subscription | undefined,
    nowMs: number,
    done: (outcome: PublishReply) => void,
  ): void {
    if (this.#refuses(nowMs, done)) return;
    const { outcome } = this.#channel.publish(request, info, nowMs);
    done(outcome === "too-many-keys" ? failed(changeError(outcome)) : { outcome: "published" });
  }

  history(
    _channel: string,
    query: HistoryQuery,
    bytesMax: number,
    nowMs: number,
    done: (outcome: HistoryReply) => void,
  ): void {
    const outcome = this.#channel.history(query, nowMs, bytesMax);
    done(outcome.outcome === "history" ? outcome : failed(historyError(outcome.outcome)));
  }

  readMap(
    _channel: string,
    query: MapPageQuery,
    bytesMax: number,
    nowMs: number,
    done: (outcome: MapPageReply) => void,
  ): void {
    const { presenceMap } = this.#channel;
    if (presenceMap === undefined || query.since !== undefined)
      this.#readMap(query, bytesMax, nowMs, done);
    else {
      presenceMap.ready(nowMs, (outcome) => {
        if (outcome === "ready") this.#readMap(query, bytesMax, this.#clock(), done);
        else done(failed(errorCodes.tooManyRequests));
      });
    }
  }

  #readMap(
    query: MapPageQuery,
    bytesMax: number,
    nowMs: number,
    done: (outcome: MapPageReply) => void,
  ): void {
    const page = this.#channel.map?.page(query, nowMs, bytesMax);
    if (page === undefined) done(failed(errorCodes.notAvailable));
    else if (page.outcome === "unrecoverable") done(failed(errorCodes.unrecoverablePosition));
    else done({ ...page, outcome: "page" });
  }

  readMapStream(
    _channel: string,
    { since, limit }: MapStreamPage,
    bytesMax: number,
    nowMs: number,
    done: (outcome: HistoryReply) => void,
  ): void {
    const page = this.#channel.recoverPage(since, nowMs, bytesMax);
    if (page === undefined) done(failed(errorCodes.notAvailable));
    else if (page.outcome === "unrecoverable") done(failed(errorCodes.unrecoverablePosition));
    else {
      const { position, publications } = page;
      done({ outcome: "history", publications: publications.slice(0, limit), position });
    }
  }

  changeMap(
    _channel: string,
    change: MapChange,
    info: ClientInfo,
    _subscription: Subscription | undefined,
    nowMs: number,
    done: (outcome: PublishReply) => void,
  ): void {
    if (this.#refuses(nowMs, done)) return;
    const outcome = this.#channel.map?.change(change, info, nowMs).outcome;
    switch (outcome) {
      case "changed":
      case "suppressed":
        done({ outcome: "published" });
        return;
      case "full":
      case "too-many-keys":
        done(failed(changeError(outcome)));
        return;
      case undefined:
        done(failed(errorCodes.notAvailable));
    }
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

  /** Refuses a publication while the backlog of the sockets is too large (rule B3). */
  #refuses(nowMs: number, done: (outcome: PublishReply) => void): boolean {
    if (!this.#channel.hub.overloaded(nowMs)) return false;
    done(failed(errorCodes.tooManyRequests));
    return true;
  }
}

function failed(error: ErrorCode): { readonly outcome: "failed"; readonly error: ErrorCode } {
  return { outcome: "failed", error };
}
