import type { KeptRefusal } from "../../contract/kept-refusal.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import type { CodeState } from "./code-state.ts";
import type { ClosedConnection, GatewayProgress } from "./trail.ts";

/**
 * The question of `inspect` to an object about its state (rule Y4). During a deploy the sides may be one release apart
 * (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface StateQuery {
  /** The channel that a gateway is to report; absent: none. A channel's object always reports its own. */
  readonly channel?: string;
  /** How many of the last refusals are reported. */
  readonly refusals: number;
}

/** The live state of an object of either kind. */
export interface ObjectState {
  /** The object's node (docs/protocol.md 4.3). */
  readonly node: string;
  /** The release that it runs. */
  readonly version: string;
  /** When the object last woke, ms since 1970, and the event that woke it. */
  readonly awakeSinceMs: number;
  readonly wokenBy: string;
  /** Its events by kind, since it woke and in the last hour of that. */
  readonly events: readonly EventCount[];
  /** When its alarm is set to ring, ms since 1970; absent if none is set. */
  readonly alarmAtMs?: number;
  /** The size of its storage. */
  readonly storedBytes: number;
  readonly connections: ConnectionCounts;
  /** The bytes that clients were sent and haven't taken, and the clients that are behind, the furthest first. */
  readonly backlogBytes: number;
  readonly behind: readonly BehindConnection[];
  /** The last connections that ended, newest first. */
  readonly closes: readonly ClosedConnection[];
  /** The last refusals, newest first. */
  readonly refusals: readonly KeptRefusal[];
  /** Of a channel's object. */
  readonly channel?: ChannelState;
  /** Of a gateway: the channels that it follows, and the memory that they take, estimated. */
  readonly gateway?: { readonly channels: number; readonly heldBytes: number };
  /** The channel on the object's own sockets; absent if a gateway wasn't asked for one. */
  readonly subscribers?: SubscriberCounts;
}

/** The events of one kind. */
export interface EventCount {
  readonly kind: string;
  readonly sinceWake: number;
  readonly lastHour: number;
}

/** Open connections of an object. */
export interface ConnectionCounts {
  /** Those whose connect has been answered, by transport and by protocol. */
  readonly connected: number;
  readonly byTransport: Readonly<Record<string, number>>;
  readonly byProtocol: Readonly<Record<string, number>>;
  /** Those whose connect hasn't been answered. */
  readonly connecting: number;
}

/** The subscribers to one channel on the sockets of one object. */
export interface SubscriberCounts {
  readonly subscribers: number;
  readonly byTransport: Readonly<Record<string, number>>;
  readonly byProtocol: Readonly<Record<string, number>>;
  /** Those with a tags filter, and those that get deltas. */
  readonly filtered: number;
  readonly delta: number;
  /** Subscribes that haven't been answered. */
  readonly pending: number;
  /** Up to where they have been sent everything, or are about to be; absent without history, and while it isn't known. */
  readonly position?: StreamPosition;
  /** Of a gateway: the number of the last entry that it took from which instance of the channel; absent if unknown. */
  readonly instance?: number;
  readonly sequence?: number;
  /** Whether a frame is on its way, and whether something is collected for the next one. */
  readonly isSending: boolean;
  readonly isCollecting: boolean;
}

/** A connection that hasn't taken all that it was sent. */
export interface BehindConnection {
  readonly client: string;
  readonly user: string;
  readonly bytes: number;
}

/** A channel, as its own object knows it. */
export interface ChannelState {
  readonly name: string;
  /** Whether the configuration has its namespace. */
  readonly isKnown: boolean;
  /** The top; absent without a stream. */
  readonly top?: StreamPosition;
  /** When the newest publication with history came, or the stream was made or emptied; absent without a stream. */
  readonly newestMs?: number;
  /** The publications that can be read, and how many may be kept; 0 without history. */
  readonly publications: number;
  readonly historySize: number;
  /** The instance, and the number of its last entry. */
  readonly instance: number;
  readonly sequence: number;
  readonly gateways: readonly GatewayProgress[];
  /** Whether a commit is under way, and what waits for it, in bytes. */
  readonly isCommitting: boolean;
  readonly waitingBytes: number;
  /** Its code; absent without any. */
  readonly code?: CodeState;
}
