import type { CursorEvent } from "./cursors/cursor-event.ts";
import type { GrowthEvent } from "./growth/growth-event.ts";
import type { ChangeEvent } from "./changes/change-event.ts";
import type { BankEvent } from "./bank/bank-event.ts";
import type { MapEvent } from "./maps/map-event.ts";

/**
 * A history: what publishers, subscribers and the fault maker did and observed, as events in the order of their times.
 * The checker reads nothing else, so it can check real clients of a real server as well as the simulator.
 */
export type HistoryEvent =
  | ChannelOpened
  | PublishInvoked
  | PublishAcknowledged
  | PublishRefused
  | PublishUnknown
  | Subscribed
  | Delivered
  | Signalled
  | Detached
  | StreamForgotten
  | ObjectCrashed
  | OrderEvent
  | ConnectionAsked
  | ConnectionAccepted
  | HookAnswered
  | CallAnswered
  | ConnectionEnded
  | EventsWanted
  | EventTaken
  | EventsTold
  | MapEvent
  | BankEvent
  | CursorEvent
  | GrowthEvent
  | ChangeEvent
  | Settled
  | Presence
  | FaultBegun
  | FaultEnded;

/** An event to which the history adds the time. */
export type UntimedEvent = Untimed<HistoryEvent>;

type Untimed<Each> = Each extends HistoryEvent ? Omit<Each, "time"> : never;

interface Common {
  /** µs since some fixed moment; never goes back within a history. */
  readonly time: number;
  /** The name of the client, the publisher or the fault maker that the event is about. */
  readonly process: string;
}

/** The first event of a channel. */
export interface ChannelOpened extends Common {
  readonly type: "info";
  readonly f: "channel";
  readonly channel: string;
  /**
   * What the channel promises its subscribers after a gap: nothing, the newest publication, or everything that is kept.
   */
  readonly recovery: "none" | "cache" | "stream";
  /**
   * How many missed publications are always recovered (rule R2): the smaller of the history's size and one less than
   * the limit of a recovery. Absent where the configuration is unknown, as on a deployed server.
   */
  readonly recoverable?: number;
}

/** A publish begins. Its value is unique in the history. Repeats with an idempotency key belong to the same publish. */
export interface PublishInvoked extends Common {
  readonly type: "invoke";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
  /** Whether a backend has to allow the publish, which a {@link HookAnswered} then tells. */
  readonly asks?: boolean;
}

export interface PublishAcknowledged extends Common {
  readonly type: "ok";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
  /** The publication's offset; absent without history, and in replies to clients, which lack it. */
  readonly offset?: number;
  readonly epoch?: string;
}

/** The publication was certainly not published and never will be. */
export interface PublishRefused extends Common {
  readonly type: "fail";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
}

/** The outcome of the publish is unknown for good. */
export interface PublishUnknown extends Common {
  readonly type: "info";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
}

/** A subscribe was answered. The recovered publications follow at once as deliveries. */
export interface Subscribed extends Common {
  readonly type: "ok";
  readonly f: "subscribe";
  readonly channel: string;
  /** The connection's ID, as presence shows it. */
  readonly client: string;
  /** Whether the client asked to recover from the last publication that it received here. */
  readonly recovering: boolean;
  readonly recovered: boolean;
  /** The position of the reply: the one before the recovered publications, if there are any. Absent without history. */
  readonly epoch?: string;
  readonly offset?: number;
  /** The position to recover from, where it isn't that of the last publication that the client received here. */
  readonly since?: { readonly epoch: string; readonly offset: number };
  /** Whether a backend had to allow the subscription. */
  readonly asks?: boolean;
}

export interface Delivered extends Common {
  readonly type: "ok";
  readonly f: "deliver";
  readonly channel: string;
  readonly value: string;
  readonly offset?: number;
}

/**
 * The subscriber was told of insufficient state: it was unsubscribed with 2500 or disconnected with 3010. Its
 * subscription has ended.
 */
interface Signalled extends Common {
  readonly type: "info";
  readonly f: "signal";
  readonly channel: string;
  readonly code: number;
}

/**
 * The subscription has ended because the connection broke or the client left. The client keeps its position unless it
 * forgets it.
 */
export interface Detached extends Common {
  readonly type: "info";
  readonly f: "detach";
  readonly channel: string;
  /** The next subscribe won't ask to recover. */
  readonly forgets?: boolean;
}

/** From here on kept publications or the stream may be gone, by request or by configuration. */
export interface StreamForgotten extends Common {
  readonly type: "info";
  readonly f: "forget";
  readonly channel: string;
  /** The publications only, or the epoch and the offsets as well. */
  readonly what: "publications" | "stream";
}

/**
 * A channel object lost its memory in the middle of its work. Without history, undelivered publications may be lost.
 */
interface ObjectCrashed extends Common {
  readonly type: "info";
  readonly f: "crash";
  readonly channel: string;
}

/** The orders that a backend gives for all connections of a user. */
export type OrderMethod =
  | "disconnect"
  | "unsubscribe"
  | "subscribe"
  | "block_user"
  | "unblock_user"
  | "revoke_token"
  | "invalidate_user_tokens";

/**
 * A backend gives an order, and is told that it has been carried out (ok), that it never will be (fail), or neither
 * (info): then homes go on with it.
 */
export interface OrderEvent extends Common {
  readonly type: "invoke" | "ok" | "fail" | "info";
  readonly f: "order";
  /** Unique in the history. */
  readonly order: string;
  readonly user: string;
  readonly method: OrderMethod;
  /** The channel of a subscribe or an unsubscribe. */
  readonly channel?: string;
  /** The `jti` of a token that is revoked, and for how long from now on it isn't valid, s. */
  readonly token?: string;
  readonly barredFor?: number;
  /** Tokens of before that time are made invalid, s since 1970. */
  readonly issuedBefore?: number;
}

/** A client of a user opens a connection, and forgets the one before. */
export interface ConnectionAsked extends Common {
  readonly type: "invoke";
  readonly f: "connect";
  readonly user: string;
}

/** The server has accepted the client's connect. */
export interface ConnectionAccepted extends Common {
  readonly type: "ok";
  readonly f: "connect";
  readonly user: string;
  /** The connection's ID. */
  readonly client: string;
  /** Whether a backend had to let the client in. */
  readonly asks?: boolean;
  /** The `jti` and the `iat` of the client's token, if orders may concern them. */
  readonly token?: string;
  readonly issuedAt?: number;
}

/** The client has noticed that its connection has ended. */
export interface ConnectionEnded extends Common {
  readonly type: "info";
  readonly f: "disconnect";
  /** The connection's ID. */
  readonly client: string;
}

/** Of what the server tells a backend. Without it, a history has no events of objects. */
export interface EventsWanted extends Common {
  readonly type: "info";
  readonly f: "events";
  /** The channels of which the backend is told; of connections and users it is told in any case. */
  readonly channels: readonly string[];
  /** How many events each object keeps. */
  readonly keepMax: number;
}

/** A backend takes an event of one of the server's objects, for the first time or again. */
export interface EventTaken extends Common {
  readonly type: "ok";
  readonly f: "event";
  readonly object: string;
  readonly number: number;
  /** The event's type, such as `connected` or `gap`. */
  readonly event: string;
  /** Whether it is the object's first. */
  readonly first?: boolean;
  readonly channel?: string;
  readonly user?: string;
  /** The connection's ID. */
  readonly client?: string;
  /** Of a publication, whose offset and epoch are absent without history. */
  readonly value?: string;
  readonly offset?: number;
  readonly epoch?: string;
  /**
   * Of a `gap`: the first and the last number that are missing. Of an `unseen` and a `seen`: the offsets of the first and the
   * last publication.
   */
  readonly from?: number;
  readonly to?: number;
  /** Of an `unseen`: how many publications count. */
  readonly count?: number;
  /** Of an `unseen` and a `seen`: when it happened by the server's clock, µs as in {@link Common.time}. */
  readonly at?: number;
}

/**
 * All connections have ended, and so much time has passed that the backend has been told: of the ends of connections and
 * subscriptions (rule E9), and then of users and channels, too (rules E10 and E11).
 */
export interface EventsTold extends Common {
  readonly type: "info";
  readonly f: "told";
  readonly what: "connections" | "everything";
}

/**
 * A backend that the server asks has decided: it allows what a client wants (ok), or it refuses that or gives no usable
 * answer (fail). Its answer is sent after that, if at all.
 */
export interface HookAnswered extends Common {
  readonly type: "ok" | "fail";
  readonly f: "hook";
  readonly hook: "connect" | "subscribe" | "publish" | "rpc";
  /** How the backend behaves, such as `right` or `late`. */
  readonly answer: string;
  /** The connection's ID. */
  readonly client: string;
  /** The channel of a subscribe or a publish. */
  readonly channel?: string;
  /** What the client publishes, or calls with. */
  readonly value?: string;
  /** The value that is published in its place, or the reply to the call. */
  readonly result?: string;
}

/** A call of a client (`rpc`) was answered with a result. */
export interface CallAnswered extends Common {
  readonly type: "ok";
  readonly f: "call";
  /** What the client called with; unique in the history. */
  readonly value: string;
  /** The reply; empty without data. */
  readonly result: string;
}

/**
 * All faults are over, nothing is published any more, and the time that the guarantees take to hold again has passed.
 */
interface Settled extends Common {
  readonly type: "info";
  readonly f: "settled";
}

/** The clients that the server lists as present, requested after everything has settled. */
export interface Presence extends Common {
  readonly type: "ok";
  readonly f: "presence";
  readonly channel: string;
  /** IDs of connections. */
  readonly clients: readonly string[];
}

interface FaultBegun extends Common {
  readonly type: "invoke";
  readonly f: "fault";
  readonly kind: string;
  readonly target: string;
}

interface FaultEnded extends Common {
  readonly type: "info";
  readonly f: "fault";
  readonly kind: string;
  readonly target: string;
}
