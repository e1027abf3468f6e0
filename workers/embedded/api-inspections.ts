// Written by `npm run openapi`. Don't edit it: a test compares it.

import type { ApiCodeState } from "./api-code.ts";
import type { ApiPlacement } from "./api-results.ts";

export interface ApiWhyRequest {
  /** The channel's name. */
  readonly channel: string;
  /** The offset of the publication, which the answer to `publish` has. */
  readonly offset: number;
  /** The user whose connections are told of. `user` or `client` is required. */
  readonly user?: string;
  /** The ID of the connection that is told of. Without `user`, only objects that follow the channel are asked, and the one that the ID of an anonymous connection names. */
  readonly client?: string;
}

/** The way of the publication. */
export interface ApiWhyResult {
  /** The channel. */
  readonly channel: string;
  /** The offset of the publication. */
  readonly offset: number;
  /** The answer in a sentence. */
  readonly summary: string;
  readonly publication: ApiTracedPublication;
  /** The objects that were asked, the channel's own first. */
  readonly objects: readonly ApiAskedObject[];
  /** The connections, and what became of it. */
  readonly connections: readonly ApiTracedConnection[];
  /** The asked user; absent if the request has none. */
  readonly user?: string;
  /** The asked connection; absent if the request has none. */
  readonly client?: string;
  /** Something may be missing: an object or the user's home didn't answer, or there were too many. */
  readonly incomplete?: boolean;
}

/** What the channel's object knows of the publication. */
interface ApiTracedPublication {
  /** `remembered`, `in_history`, `forgotten` or `not_published`. */
  readonly state: string;
  /** The epoch of the stream; absent without a stream. */
  readonly epoch?: string;
  /** The newest offset of the stream; absent without a stream. */
  readonly top?: number;
  /** When it came, in ms since 1970. */
  readonly published_at_ms?: number;
  /** When it was known to be durable, in ms since 1970. */
  readonly committed_at_ms?: number;
  readonly by?: ApiPublisher;
  readonly change?: ApiPublicationChange;
  /** It stores text that was appended to a value of a map. Subscribers with deltas got the pieces before, without an offset. */
  readonly appended?: boolean;
}

/** Who published; empty if that isn't known. */
interface ApiPublisher {
  /** The ID of the client's connection. */
  readonly client?: string;
  /** The client's user. */
  readonly user?: string;
  /** The name of the API key or of the consumer. */
  readonly key?: string;
}

/** The last change of a publication. */
interface ApiPublicationChange {
  /** `edited`, `deleted` or `erased`. */
  readonly kind: string;
  /** The offset of the change. */
  readonly offset: number;
}

/** What an object knows of the publication's way. */
interface ApiAskedObject {
  /** The object: `channel:` or `gateway:` and its name. */
  readonly object: string;
  /** `unknown` if the object didn't answer; it has no other field then. */
  readonly state?: string;
  readonly memory?: ApiObjectMemory;
  /** How many subscribers the channel has on it. */
  readonly subscribers?: number;
  /** Up to where they have been sent everything; absent while it isn't known. */
  readonly offset?: number;
  readonly told?: ApiCallsToGateway;
  /** When a gateway took the publication, in ms since 1970. */
  readonly taken_at_ms?: number;
  /** The gateway had missed it, and read it from the history. */
  readonly was_read?: boolean;
  readonly frame?: ApiSentFrame;
  /** A sentence about an object that is registered with the user's home and knows no connection of the user. */
  readonly note?: string;
}

/** Since when an object remembers, in ms since 1970. */
interface ApiObjectMemory {
  /** When it last woke. */
  readonly since_ms: number;
  /** The same for frames, if it had to forget some. */
  readonly frames_since_ms?: number;
  /** The same for subscriptions. */
  readonly subscriptions_since_ms?: number;
  /** The same for connections that ended. */
  readonly closes_since_ms?: number;
}

/** The calls with which the channel's object told a gateway of the publication. */
interface ApiCallsToGateway {
  /** When the first one began, in ms since 1970. */
  readonly begun_at_ms: number;
  /** How many there were. */
  readonly attempts: number;
  /** When the last one ended, in ms since 1970; absent while it is under way. */
  readonly ended_at_ms?: number;
  /** `taken`, `left` (it had no subscriber), `busy` or `failed`. */
  readonly outcome?: string;
}

/** The WebSocket message with the publication. */
interface ApiSentFrame {
  /** How many publications share it. */
  readonly publications: number;
  /** When sending began, in ms since 1970. */
  readonly begun_at_ms: number;
  /** To how many subscribers without a filter it went. */
  readonly subscribers: number;
  /** To how many with a filter it went. */
  readonly filtered: number;
  /** How many had a filter that left nothing of it. */
  readonly left_out: number;
  /** How many were closed instead, because they were too far behind. */
  readonly slow: number;
  /** When sending ended, in ms since 1970; absent while it is under way. */
  readonly sent_at_ms?: number;
}

/** What became of the publication for one connection. */
interface ApiTracedConnection {
  /** The ID of the connection. */
  readonly client: string;
  /** Its user. */
  readonly user: string;
  /** The object that holds or held it. */
  readonly object: string;
  /** `sent`, `recovered`, `had_it`, `sending`, `not_taken`, `filtered`, `not_recovered`, `subscribed_later`, `not_subscribed`, `unsubscribed`, `subscribing`, `connecting`, `connected_later`, `closed_before`, `slow` or `unknown`. */
  readonly outcome: string;
  /** The same in a sentence. */
  readonly summary: string;
  /** `connecting`, `connected` or `closed`. */
  readonly state: string;
  /** When it was opened, in ms since 1970. */
  readonly opened_at_ms: number;
  /** Its subscriptions to the channel, oldest first. */
  readonly events: readonly ApiSubscriptionEvent[];
  /** Of an open connection: as `connections` tells it. */
  readonly transport?: string;
  /** Of an open connection: `json`, `protobuf` or `messagepack`. */
  readonly protocol?: string;
  /** Of an open connection: `none`, `pending` or `begun`. */
  readonly subscription?: string;
  /** What the subscription's tags filter does with the publication: `passes`, `holds_back` or `unknown`; absent without a filter. */
  readonly filter?: string;
  /** What the client of an open connection was sent and hasn't taken, in bytes. */
  readonly backlog_bytes?: number;
  /** When the connection ended, in ms since 1970; absent if it is open. */
  readonly closed_at_ms?: number;
  /** The code of the close. */
  readonly code?: number;
  /** Who closed: `client` or `server`. */
  readonly by?: string;
}

/** A subscription to the channel that began or ended. */
interface ApiSubscriptionEvent {
  /** `subscribed` or `unsubscribed`. */
  readonly event: string;
  /** When, in ms since 1970. */
  readonly at_ms: number;
  /** The offset after which the subscription gets publications. */
  readonly offset?: number;
  /** The offset after which the client asked to recover. */
  readonly since_offset?: number;
  /** Whether it recovered; absent if it didn't ask. */
  readonly recovered?: boolean;
  /** How many publications were in the reply; absent if it didn't ask. */
  readonly publications?: number;
  /** The code of the end; 0 if the client ended it. */
  readonly code?: number;
}

export interface ApiInspectRequest {
  /** The channel. Either `channel` or `object` is required; both have to name the same. */
  readonly channel?: string;
  /** An object, as the log and `connections` name it: `gateway:eu/0` or `channel:news`. `edge` for what the Worker itself has refused; it is remembered with `console.enabled` or `prometheus.enabled`. */
  readonly object?: string;
  /** How many of the object's last refusals are told; 0, or none, for none. */
  readonly refusals?: number;
}

/** The live state of an object. Of the edge, only what was refused there is told. */
export interface ApiInspectResult {
  /** The object, or `edge`. */
  readonly object: string;
  /** The release that it runs. */
  readonly version: string;
  /** When it last woke, in ms since 1970: it remembers nothing from before. */
  readonly awake_since_ms?: number;
  readonly placement?: ApiPlacement;
  /** The kind of event that woke it. */
  readonly woken_by?: string;
  /** How often events came, by their kind. */
  readonly events?: { readonly [name: string]: ApiEventCount };
  /** The size of its storage. */
  readonly stored_bytes?: number;
  readonly connections?: ApiConnectionCounts;
  /** What its clients were sent and haven't taken, in bytes. */
  readonly backlog_bytes?: number;
  /** The connections furthest behind, the furthest first. */
  readonly behind?: readonly ApiBehindConnection[];
  /** The last connections that ended, newest first. */
  readonly closes?: readonly ApiClosedConnection[];
  /** When its alarm rings next, in ms since 1970; absent if none is set. */
  readonly alarm_at_ms?: number;
  /** The channel's subscribers on the object's own sockets. */
  readonly subscribers?: ApiSubscriberCounts;
  readonly gateway?: ApiGatewayState;
  readonly channel?: ApiChannelState;
  /** The last refusals, newest first; absent if there are none. */
  readonly refusals?: readonly ApiKeptRefusal[];
  /** Something may be missing: an object or the user's home didn't answer, or there were too many. */
  readonly incomplete?: boolean;
}

/** How often events of a kind came. */
interface ApiEventCount {
  /** Since the object woke. */
  readonly since_wake: number;
  /** In the last hour of that. */
  readonly last_hour: number;
}

/** The open connections of an object. */
interface ApiConnectionCounts {
  /** Those whose connect has been answered. */
  readonly connected: number;
  /** Those whose connect hasn't been answered. */
  readonly connecting: number;
  /** How many there are by transport. */
  readonly by_transport: { readonly [name: string]: number };
  /** How many there are by protocol. */
  readonly by_protocol: { readonly [name: string]: number };
}

/** A connection that hasn't taken all that it was sent. */
interface ApiBehindConnection {
  /** The ID of the connection. */
  readonly client: string;
  /** Its user. */
  readonly user: string;
  /** What it hasn't taken, in bytes. */
  readonly bytes: number;
}

/** A connection that has ended. */
interface ApiClosedConnection {
  /** The ID of the connection. */
  readonly client: string;
  /** Its user. */
  readonly user: string;
  /** When it was opened, in ms since 1970. */
  readonly opened_at_ms: number;
  /** When it ended, in ms since 1970. */
  readonly closed_at_ms: number;
  /** The code of the close; 1006 if the connection was lost. */
  readonly code: number;
  /** Who closed: `client` or `server`. */
  readonly by: string;
  /** Whether its connect had been answered. */
  readonly had_connected: boolean;
}

/** The subscribers to a channel on the sockets of one object. */
interface ApiSubscriberCounts {
  /** All of them. */
  readonly count: number;
  /** How many there are by transport. */
  readonly by_transport: { readonly [name: string]: number };
  /** How many there are by protocol. */
  readonly by_protocol: { readonly [name: string]: number };
  /** Those with a tags filter. */
  readonly filtered: number;
  /** Those that get deltas. */
  readonly delta: number;
  /** Subscribes that haven't been answered; they aren't in `count`. */
  readonly pending: number;
  /** Whether a frame is on its way. */
  readonly sending: boolean;
  /** Whether something is collected for the next frame. */
  readonly collecting: boolean;
  /** Up to where they have been sent everything; absent while it isn't known. */
  readonly offset?: number;
  /** The epoch that the offset belongs to. */
  readonly epoch?: string;
  /** Of a gateway: the number of the last entry that it took; absent if unknown. */
  readonly sequence?: number;
}

/** What a gateway follows. */
interface ApiGatewayState {
  /** The channels that it follows. */
  readonly channels: number;
  /** The memory that they take, estimated, in bytes. */
  readonly held_bytes: number;
}

/** A channel, as its own object knows it. */
interface ApiChannelState {
  /** The channel. */
  readonly name: string;
  /** Whether the configuration has its namespace. */
  readonly namespace_configured: boolean;
  readonly history: ApiHistorySize;
  /** The number of the last entry that gateways are told. */
  readonly sequence: number;
  /** Whether a commit is under way. */
  readonly committing: boolean;
  /** What waits for the next commit, in bytes. */
  readonly waiting_bytes: number;
  /** The gateways that follow the channel. */
  readonly gateways: readonly ApiFollowingGateway[];
  /** The newest offset; absent without a stream. */
  readonly offset?: number;
  /** The epoch of the stream; absent without a stream. */
  readonly epoch?: string;
  readonly code?: ApiCodeState;
  /** When the newest publication came, or the stream was made or emptied, in ms since 1970. */
  readonly newest_ms?: number;
}

/** How much a channel keeps. */
interface ApiHistorySize {
  /** The publications that can be read. */
  readonly publications: number;
  /** How many may be kept; 0 without history. */
  readonly size: number;
}

/** A gateway that follows a channel. */
interface ApiFollowingGateway {
  /** The gateway. */
  readonly object: string;
  /** How many entries it isn't known to have taken. */
  readonly lag: number;
  /** How many calls to it have failed in a row. */
  readonly failures: number;
  /** Until when it isn't called because of that, in ms since 1970. */
  readonly waits_until_ms?: number;
  readonly last_call?: ApiLastCall;
  /** `unknown` if it didn't answer, `not asked` if there are too many; otherwise absent. */
  readonly state?: string;
  readonly subscribers?: ApiSubscriberCounts;
  /** False until it has taken something of the channel's present instance. */
  readonly follows_this_instance?: boolean;
  /** When the gateway last woke, in ms since 1970. */
  readonly awake_since_ms?: number;
  /** What its clients were sent and haven't taken, in bytes. */
  readonly backlog_bytes?: number;
}

/** The last call to a gateway. */
interface ApiLastCall {
  /** When it began, in ms since 1970. */
  readonly begun_at_ms: number;
  /** When it ended, in ms since 1970; absent while it is under way. */
  readonly ended_at_ms?: number;
}

/** A refusal, or several equal ones in a row. */
interface ApiKeptRefusal {
  /** When it last happened, in ms since 1970. */
  readonly at_ms: number;
  /** How often in a row. */
  readonly count: number;
  /** What was refused, as the log has it. */
  readonly refused: string;
  /** The rule by which it was refused. */
  readonly rule: string;
  /** Why, in words. */
  readonly reason: string;
  /** The code of the error or of the close. */
  readonly code?: number;
  /** The user. */
  readonly user?: string;
  /** The channel. */
  readonly channel?: string;
  /** The name of the backend's API key, for a refusal of the edge. */
  readonly key?: string;
}
