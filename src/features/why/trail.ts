import type { StreamPosition, Tags } from "../../protocol/publication.ts";

/**
 * What objects report of the way of one publication (rules Y1 to Y3): the edge asks the channel's object, then the gateways
 * that follow the channel and those that hold connections of the asked user. During a deploy the sides may be one release
 * apart (rule V1): fields are only added, and the absence of an added field has a meaning. No payload is among them.
 */
export interface TrailQuery {
  readonly channel: string;
  /** Of the publication. */
  readonly offset: number;
  /** Connections of this user are reported; absent: the one of `client`. */
  readonly user?: string;
  /** The connection with this ID is reported; absent: all of `user`. */
  readonly client?: string;
  /** The tags of the publication, for filters; absent if they aren't known, which isn't the same as none. */
  readonly tags?: Tags;
}

/** What an object of either kind knows of the way of a publication. */
export interface TrailAnswer {
  /** The object's node (docs/protocol.md 4.3). */
  readonly node: string;
  /** When the object last woke, ms since 1970: it remembers nothing from before. */
  readonly awakeSinceMs: number;
  /** Since when it remembers all that went through it, if it had to forget something; absent: since it woke. */
  readonly remembersSinceMs?: number;
  /** The same of subscriptions, and of connections that ended. */
  readonly notesSinceMs?: number;
  readonly closesSinceMs?: number;
  /** How many subscribers the channel has on the object's sockets. */
  readonly subscribers: number;
  /** Up to where these have been sent everything, or are about to be; absent while it isn't known. */
  readonly position?: StreamPosition;
  /** Whether something waits to be sent to them. */
  readonly isSending: boolean;
  /** The frame with the publication; absent: none is remembered. */
  readonly frame?: SentFrame;
  /** When a gateway took the publication; absent: that isn't remembered, or the object is the channel's. */
  readonly taken?: TakenPublication;
  /** The asked connections that are open, and the ends of those that aren't, oldest first. */
  readonly connections: readonly TracedConnection[];
  readonly closes: readonly ClosedConnection[];
  /** Subscriptions to the channel that began or ended on the asked connections, oldest first. */
  readonly notes: readonly SubscriptionNote[];
  /** There are more of these than are reported; absent: there aren't. */
  readonly incomplete?: true;
  /** What the channel's own object knows beside that; absent of a gateway. */
  readonly channel?: ChannelTrail;
}

/** What a channel's object knows of a publication. */
export interface ChannelTrail {
  /** The top; absent without a stream. */
  readonly top?: StreamPosition;
  /** Whether the channel has history, and so offsets. */
  readonly hasHistory: boolean;
  /** The publication; absent: it is neither remembered nor in the history. */
  readonly publication?: KnownPublication;
  /** Its tags, if it can be read. */
  readonly tags?: Tags;
  /** The gateways that follow the channel. */
  readonly gateways: readonly GatewayProgress[];
}

/** When a publication came, and from whom. */
export interface KnownPublication {
  /** When it came, ms since 1970. */
  readonly publishedAtMs: number;
  /** When it was known to be durable, ms since 1970; absent: it isn't yet, or the time is no longer known. */
  readonly committedAtMs?: number;
  readonly by: Publisher;
  /** It makes text durable that was appended to a value of a map (rule Z40); absent: it doesn't. */
  readonly isAppended?: true;
  /** The last change of it; absent: it was never changed, or that isn't known. */
  readonly change?: KnownChange;
  /** It is known from the history alone, because the object doesn't remember it; absent: it does. */
  readonly stored?: true;
}

/** The last change of a publication (rule Y11). */
export interface KnownChange {
  readonly kind: "edited" | "deleted" | "erased";
  /** The offset of the publication that says so. */
  readonly offset: number;
}

/** A client, or a backend's API key by its name; both are absent where it isn't known. */
export interface Publisher {
  readonly client?: string;
  readonly user?: string;
  readonly key?: string;
}

/** How far a gateway is, from the channel's side. */
export interface GatewayProgress {
  readonly name: string;
  /** How many entries the gateway isn't known to have taken. */
  readonly lag: number;
  /** How many calls have failed in a row. */
  readonly failures: number;
  /** Until when it isn't called because of that, ms since 1970; absent: it isn't waited for. */
  readonly waitsUntilMs?: number;
  /** The last call, in ms since 1970; absent if none is remembered. */
  readonly lastCall?: { readonly begunAtMs: number; readonly endedAtMs?: number };
  /** The calls with the publication; absent in other answers, and if none is remembered. */
  readonly told?: CallsToGateway;
}

/** The calls that brought a publication to a gateway. */
export interface CallsToGateway {
  /** When the first one began, ms since 1970. */
  readonly begunAtMs: number;
  readonly attempts: number;
  /** When the last one ended, ms since 1970, and how; absent while it is in flight. */
  readonly endedAtMs?: number;
  readonly outcome?: "taken" | "left" | "busy" | "failed";
}

/** A frame with publications of a channel, to the subscribers on one object. */
export interface SentFrame {
  /** How many publications are in the frame. */
  readonly publications: number;
  readonly begunAtMs: number;
  /** Absent while it is on its way. */
  readonly sentAtMs?: number;
  /** To how many subscribers without a filter it went. */
  readonly subscribers: number;
  /** To how many with a filter, of which each got those publications that its filter lets through. */
  readonly filtered: number;
  /** How many got nothing of it because of their filter. */
  readonly leftOut: number;
  /** How many were closed instead because they were too far behind (rule F4). */
  readonly slow: number;
}

/** A gateway has taken a publication. */
export interface TakenPublication {
  readonly atMs: number;
  /** It had missed the publication, and has read it; absent: the channel's object sent it. */
  readonly read?: true;
}

/** An open connection of the asked user. */
export interface TracedConnection {
  readonly client: string;
  readonly user: string;
  readonly transport: string;
  readonly protocol: string;
  /** When the socket was opened, ms since 1970. */
  readonly openedAtMs: number;
  /** connecting: its connect hasn't been answered, or its user's home is asked. */
  readonly state: "connecting" | "connected";
  readonly subscription: "none" | "pending" | "begun";
  /** The last subscribe to the channel, if it is remembered. */
  readonly subscribed?: SubscriptionNote;
  /** What the subscription's filter does with the publication; absent without a filter. */
  readonly filter?: "passes" | "holds-back" | "unknown";
  /** What the client has been sent and hasn't taken, in bytes. */
  readonly backlogBytes: number;
}

/** A subscription to a channel has begun, or ended. */
export interface SubscriptionNote {
  readonly client: string;
  readonly user: string;
  readonly atMs: number;
  readonly event: "subscribed" | "unsubscribed";
  /** Of a subscribe: the position from which the subscription gets publications; absent without history. */
  readonly position?: StreamPosition;
  /** Of a subscribe that asked for recovery: from which offset, whether it was recovered, and so many publications. */
  readonly sinceOffset?: number;
  readonly recovered?: boolean;
  readonly recoveredPublications?: number;
  /** Of an end: the code that the client got; 0 if the client ended it. */
  readonly code?: number;
}

/** A connection that has ended. */
export interface ClosedConnection {
  readonly client: string;
  readonly user: string;
  readonly openedAtMs: number;
  readonly atMs: number;
  /** The code of the close; 1006 if the connection was lost. */
  readonly code: number;
  readonly by: "client" | "server";
  /** Whether its connect had been answered. */
  readonly hadConnected: boolean;
}
