import type { HistoryQuery } from "../contract/channel-call.ts";
import type { SubscribeOptions } from "../channel/channel.ts";
import type { ResolvedChannel } from "../channel/channel-name.ts";
import type { ErrorCode, DisconnectCode } from "../protocol/codes.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import type { PresenceResult, PresenceStatsResult, Reply } from "../protocol/reply.ts";
import type { Changes } from "./decision.ts";
import type { Subscription } from "./subscription.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type {
  SessionIdentity,
  SessionSnapshot,
  SubscriptionSnapshot,
} from "../contract/session-snapshot.ts";
import type { Config } from "../config/config.ts";
import type { KnownDeltas } from "../delta/delta-chain.ts";
import type { ConnectionVerdict, SubscriptionVerdict } from "../access/claims.ts";

/**
 * The channels as a session sees them. In a channel's own object there is one, and every answer comes at once; on a gateway
 * there are as many as clients name, and answers come when the channels' objects gave them. Each `answer` is called at most
 * once. None of these calls throws.
 */
export interface Channels {
  /** What a name stands for here. */
  find(name: string): ResolvedChannel;
  /**
   * Makes somebody a subscriber. The subscription begins in the stretch in which `answer` is called: every publication
   * after the answer's position reaches it, and none before. After {@link unsubscribe} there is no answer any more.
   */
  subscribe(
    subscription: Subscription,
    options: SubscribeOptions,
    nowMs: number,
    done: (outcome: SubscribeReply) => void,
  ): void;
  /** Takes up a subscription that slept. */
  restore(subscription: Subscription): void;
  /** Tells the others, after its own reply, that a subscriber came. */
  announce(subscription: Subscription): void;
  /** Ends a subscription, or the wish for one. The others hear of it, if they heard that it came. */
  unsubscribe(subscription: Subscription): void;
  /**
   * Publishes for a client that may.
   *
   * @param subscription the publisher's own to this channel, if there is one: what it publishes has then reached the hub
   *                     before `answer` is called (rule O4)
   */
  publish(
    channel: string,
    data: Payload,
    info: ClientInfo,
    subscription: Subscription | undefined,
    nowMs: number,
    done: (outcome: PublishReply) => void,
  ): void;
  history(
    channel: string,
    query: HistoryQuery,
    bytesMax: number,
    nowMs: number,
    done: (outcome: HistoryReply) => void,
  ): void;
  presence(channel: string, done: (outcome: PresenceReply) => void): void;
  presenceStats(channel: string, done: (outcome: PresenceStatsReply) => void): void;
  /**
   * Whether publications for this subscriber are still being collected. If so, its `flushed` is called once they went out,
   * and a reply that must come after them waits for that (rule O4).
   */
  awaitFlush(subscription: Subscription): boolean;
}

/** The channel's object refused, or nobody could ask it. */
interface FailedReply {
  readonly outcome: "failed";
  readonly error: ErrorCode;
}

export type SubscribeReply =
  | {
      readonly outcome: "subscribed";
      /** Where the stream stood when the subscription began; absent when it keeps no position. */
      readonly position?: StreamPosition;
      readonly recovered: boolean;
      readonly publications: readonly Publication[];
    }
  | FailedReply;

export type PublishReply = { readonly outcome: "published" } | FailedReply;

export type HistoryReply =
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | FailedReply;

export type PresenceReply =
  | { readonly outcome: "presence"; readonly result: PresenceResult }
  | FailedReply;

export type PresenceStatsReply =
  | { readonly outcome: "presence-stats"; readonly result: PresenceStatsResult }
  | FailedReply;

/** One client's socket, as a session needs it. Every call returns at once and none of them throws. */
export interface Connection {
  send(frame: Message): void;
  close(code: DisconnectCode): void;
  /** Keeps the snapshot for as long as the socket lives, whatever becomes of the object's memory. */
  save(snapshot: SessionSnapshot): void;
  /** Bytes handed to the socket that the peer has not taken yet. */
  backlogBytes(): number;
  /** When the client was last heard, by us or by the runtime that answers its pings; undefined when it never was. */
  lastHeardMs(): number | undefined;
}

/** What all sessions of an object share. */
export interface SessionContext {
  readonly config: Config;
  readonly channels: Channels;
  /** What was made for those who recovered before. */
  readonly knownDeltas: KnownDeltas;
  /** What the server calls itself to clients; never empty. */
  readonly version: string;
  /** Whether the server makes subscriptions of its own: not on a socket that was opened for one channel. */
  readonly serverSubscriptions: boolean;
  /** By what name what clients post finds this object (docs/protocol.md 4.3). */
  readonly node: string;
  /** The one channel that sockets here are opened for; absent where they are for any. */
  readonly channel?: string;
  /** Whether a session too large for its attachment can lie in a row (rule G2). */
  readonly storesRows: boolean;
}

/** A session as the commands that it carries out see it. */
export interface CommandSession {
  readonly context: SessionContext;
  /** What its frames are. */
  readonly codec: Codec;
  readonly subscriptions: Subscriptions;
  /** Who the client is. What it is subscribed to is in `subscriptions`. */
  identity: SessionIdentity;
  /** A connect waits for the server's subscriptions; until then nothing is saved. */
  connecting: boolean;
  readonly closed: boolean;
  /** Whether nothing but connect may come. */
  readonly awaitsConnect: boolean;
  /** Whether whatever comes counts for nothing: the connection is closed, was refused (rule C4), or only listens (rule C11). */
  readonly ignoresCommands: boolean;
  /** Whether the client only listens: then nothing is answered. */
  readonly unidirectional: boolean;
  /** "" for an anonymous user, and before connect. */
  readonly user: string;
  readonly snapshot: SessionSnapshot;
  /** Changes what the client is, and saves the session. */
  change(changes: Changes | undefined): void;
  /** Saves the session, unless a connect is under way or the connection is closed. */
  save(): void;
  /** Whether a session with these subscriptions, or claims, could be saved (rules S1, G2). */
  hasRoom(
    subscriptions: readonly SubscriptionSnapshot[],
    claims?: SessionSnapshot["claims"],
  ): boolean;
  newSubscription(granted: SubscriptionSnapshot): Subscription;
  /** Ends the subscription to a channel, if there is one. */
  leave(channel: string): void;
  /**
   * Sends a reply, or an error if the reply is too large.
   *
   * @param after the channel whose collected publications have to go out first
   */
  reply(reply: Reply, after?: string): void;
  /** @param sent is called when the message went out: at once, or when those before it did */
  send(message: Message, after?: string, sent?: () => void): void;
  /** Whether a message of this size has to wait until the client has taken what is under way to it. */
  mustWait(message: Message): boolean;
  /** Closes the connection from our side. */
  disconnect(code: DisconnectCode): void;
}

/** What became of the token that came with a command, already verified: that takes time, and a session takes none. */
export interface VerifiedTokens {
  readonly connection?: ConnectionVerdict;
  readonly subscription?: SubscriptionVerdict;
}
