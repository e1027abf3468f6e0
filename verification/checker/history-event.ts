/**
 * A history: what publishers, subscribers and whoever breaks things did and saw, one happening after the other in the
 * order of their times. The checker reads nothing else, so whatever writes histories can be checked: real clients of a
 * real server, or the simulator.
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
  | Settled
  | Presence
  | FaultBegun
  | FaultEnded;

interface Common {
  /** µs since some fixed moment; never goes back within a history. */
  readonly time: number;
  /** Who did or saw it: a name that is one client's, one publisher's, or the fault maker's. */
  readonly process: string;
}

/** The first word of a channel, before anything else about it. */
export interface ChannelOpened extends Common {
  readonly type: "info";
  readonly f: "channel";
  readonly channel: string;
  /** What subscribers are promised: nothing after a gap, the newest publication, or everything that is kept. */
  readonly recovery: "none" | "cache" | "stream";
  /**
   * How many missed publications are always recovered (rule R2): the smaller of the history's size and one less than the limit of a recovery.
   * Absent where nothing of that kind is promised, as for a server whose configuration nobody knows.
   */
  readonly recoverable?: number;
}

/** Somebody begins to publish a value, which is nobody else's. Repeats with an idempotency key belong to the same publish. */
export interface PublishInvoked extends Common {
  readonly type: "invoke";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
}

export interface PublishAcknowledged extends Common {
  readonly type: "ok";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
  /** Where it stands; absent without history, and in replies to clients, which don't say it. */
  readonly offset?: number;
  readonly epoch?: string;
}

/** It is certain that nothing was published, and nothing will be. */
export interface PublishRefused extends Common {
  readonly type: "fail";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
}

/** Nobody will ever know by the publish itself. */
export interface PublishUnknown extends Common {
  readonly type: "info";
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
}

/** A subscribe was answered. What it recovered follows at once as deliveries. */
export interface Subscribed extends Common {
  readonly type: "ok";
  readonly f: "subscribe";
  readonly channel: string;
  /** The connection's ID, as presence shows it. */
  readonly client: string;
  /** It asked for what it missed since the last thing that it heard here. */
  readonly recovering: boolean;
  readonly recovered: boolean;
  /** Where the reply says that it stands: before what it recovers, if that is anything. Absent without history. */
  readonly epoch?: string;
  readonly offset?: number;
}

export interface Delivered extends Common {
  readonly type: "ok";
  readonly f: "deliver";
  readonly channel: string;
  readonly value: string;
  readonly offset?: number;
}

/** It was told that it lost the stream: unsubscribed with 2500, or disconnected with 3010. It is subscribed no more. */
interface Signalled extends Common {
  readonly type: "info";
  readonly f: "signal";
  readonly channel: string;
  readonly code: number;
}

/** It is subscribed no more: its connection broke, or it left. It keeps its position unless it forgets it. */
export interface Detached extends Common {
  readonly type: "info";
  readonly f: "detach";
  readonly channel: string;
  /** Its next subscribe won't ask for what it missed. */
  readonly forgets?: boolean;
}

/** What was kept of a channel may be gone from here on, as was asked for or configured. */
export interface StreamForgotten extends Common {
  readonly type: "info";
  readonly f: "forget";
  readonly channel: string;
  /** Only the publications; or the epoch and the offsets too. */
  readonly what: "publications" | "stream";
}

/** A channel's object was thrown away in the middle of its work. Without history that may cost what nobody had heard yet. */
interface ObjectCrashed extends Common {
  readonly type: "info";
  readonly f: "crash";
  readonly channel: string;
}

/** All faults are over and nothing is published any more, for as long as the guarantees take to hold again. */
interface Settled extends Common {
  readonly type: "info";
  readonly f: "settled";
}

/** Who the server says is present. Asked for after all has settled. */
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
