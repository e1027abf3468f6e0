import type { HistoryQuery, PublicationRequest } from "../contract/channel-call.ts";
import type { MapChange, MapPageQuery } from "../contract/map-call.ts";
import type { SubscribeOptions } from "../channel/channel.ts";
import type { PresenceQuestion } from "../channel/shared-presence.ts";
import type { ResolvedChannel } from "../channel/channel-name.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import type { Subscription } from "./subscription.ts";
import type { Tracking } from "./tracking.ts";

/**
 * The channels as a session sees them. A channel's own object has one channel, which replies at once, to questions for
 * who is present later; a gateway has as many as its clients name, and they reply when their objects have. Each `done` is called at most once. None of these
 * calls throws.
 */
export interface Channels {
  /** The keys of shared polls; absent where there can't be any. */
  readonly tracking?: Tracking | undefined;
  /** Finds the channel of a name, with its options. */
  find(name: string): ResolvedChannel;
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
   * Publishes for a client that is allowed to, or whose backend has allowed it.
   *
   * @param subscription the publisher's own to this channel, if there is one: the publication then reaches the hub
   *                     before `done` is called (rule O4)
   */
  publish(
    channel: string,
    request: PublicationRequest,
    info: ClientInfo,
    subscription: Subscription | undefined,
    nowMs: number,
    done: (outcome: PublishReply) => void,
  ): void;
  /**
   * Reads the history.
   *
   * @param bytesMax how large the publications of the reply may be together, before they are encoded
   */
  history(
    channel: string,
    query: HistoryQuery,
    bytesMax: number,
    nowMs: number,
    done: (outcome: HistoryReply) => void,
  ): void;
  /**
   * Reads a page of a map's state (rule Z3).
   *
   * @param bytesMax how large the entries of the page may be together, before they are encoded
   */
  readMap(
    channel: string,
    query: MapPageQuery,
    bytesMax: number,
    nowMs: number,
    done: (outcome: MapPageReply) => void,
  ): void;
  /** Reads the oldest changes of a map after a position; none if that is the top. `bytesMax` is as above. */
  readMapStream(
    channel: string,
    query: MapStreamPage,
    bytesMax: number,
    nowMs: number,
    done: (outcome: HistoryReply) => void,
  ): void;
  /** Changes a key of a map for a client. The permissions and `subscription` are those of {@link publish}. */
  changeMap(
    channel: string,
    change: MapChange,
    info: ClientInfo,
    subscription: Subscription | undefined,
    nowMs: number,
    done: (outcome: PublishReply) => void,
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

/** The channel's object refused, or couldn't be reached. */
interface FailedReply {
  readonly outcome: "failed";
  readonly error: ErrorCode;
}

/** The outcome of a subscribe. */
export type SubscribeReply =
  | {
      readonly outcome: "subscribed";
      /** The top when the subscription began; absent for a subscription without a position. */
      readonly position?: StreamPosition;
      readonly recovered: boolean;
      /** The publications that were recovered. */
      readonly publications: readonly Publication[];
    }
  | FailedReply;

/** The reply to a subscribe that succeeded. */
export type Subscribed = Extract<SubscribeReply, { readonly outcome: "subscribed" }>;

/** The outcome of a publish. */
export type PublishReply = { readonly outcome: "published" } | FailedReply;

/** The outcome of a history request. */
export type HistoryReply =
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | FailedReply;

/** The outcome of reading a page of a map's state. */
export type MapPageReply =
  | {
      readonly outcome: "page";
      /** In the order of their keys. */
      readonly publications: readonly Publication[];
      /** Of the next page; "" if this is the last one. */
      readonly cursor: string;
      /** The top when the page was read. */
      readonly position: StreamPosition;
    }
  | FailedReply;

/** Which changes of a map are read. */
export interface MapStreamPage {
  readonly since: StreamPosition;
  /** The most changes, at least 1. */
  readonly limit: number;
}
