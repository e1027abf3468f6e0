/**
 * What happens to channels that are maps (the rules Z). A change of a key is told once to each subscriber that
 * is there, and in the state to each that comes later; so these events tell keys and values, and a client's copy of the map
 * can be compared with what it has to be.
 */
export type MapEvent =
  | MapOpened
  | MapChangeEvent
  | MapSubscribed
  | MapDelivered
  | MapEnded
  | MapForgotten
  | MapRead;

interface Common {
  /** µs since some fixed moment, as in `HistoryEvent`. */
  readonly time: number;
  readonly process: string;
  readonly channel: string;
}

/** One key as somebody was told of it. */
export interface MapEntryTold {
  readonly key: string;
  /** Unique in the history; absent if the key was removed. */
  readonly value?: string;
  /** Of the key's last change; absent where clients aren't told offsets. */
  readonly offset?: number;
}

/** The first event of a map. */
interface MapOpened extends Common {
  readonly type: "info";
  readonly f: "map";
  readonly mode: "ephemeral" | "recoverable" | "persistent";
  /** How long a key lives after its last change; absent if ends of keys aren't to be judged. */
  readonly keyTtlMs?: number;
  /** Whether code of the channel sets the keys, so that nobody knows the values before: the first who is told says what was set. */
  readonly isCoded?: boolean;
}

/**
 * A publisher asks for a change of a key (invoke), and is answered (ok), refused (fail) or never learns the outcome (info).
 * Repeats with an idempotency key belong to the same change.
 */
export interface MapChangeEvent extends Common {
  readonly type: "invoke" | "ok" | "fail" | "info";
  readonly f: "map-change";
  /** Unique in the history; the value if a value is set. */
  readonly change: string;
  readonly key: string;
  /** Absent for a removal. */
  readonly value?: string;
  /** The version of the value, if it has one; versions of a key count from 1 on. */
  readonly version?: number;
  /** The offset that the key's last change must have; 0: the map must not have the key. */
  readonly ifOffset?: number;
  /** Of the change, in the answer to a backend. */
  readonly epoch?: string;
  readonly offset?: number;
  /** Why nothing was changed. */
  readonly suppressed?: string;
}

/** A client has synchronised a map: from now on it gets each change. */
export interface MapSubscribed extends Common {
  readonly type: "ok";
  readonly f: "map-subscribe";
  readonly epoch: string;
  /** The entries of all pages; absent if the client goes on with its own copy. */
  readonly state?: readonly MapEntryTold[];
  /** The offset of the first page, or of the client's copy. Absent where clients aren't told offsets, as `offset`. */
  readonly since?: number;
  /** The changes after that, in order. */
  readonly changes: readonly MapEntryTold[];
  /** The offset that the client has reached with them. */
  readonly offset?: number;
}

/** A subscriber receives a change. */
export interface MapDelivered extends Common, MapEntryTold {
  readonly type: "ok";
  readonly f: "map-deliver";
  /** The first change of a stream names it: the map may have got a new one while it had no key. */
  readonly epoch?: string;
}

/** The subscription has ended. The client keeps its copy unless it forgets it. */
export interface MapEnded extends Common {
  readonly type: "info";
  readonly f: "map-end";
  /** The client has left, or begins with the state the next time. */
  readonly forgets?: boolean;
  /** Whether the client doesn't want the subscription any more. */
  readonly leaves?: boolean;
}

/** From here on the map may have another epoch: it was cleared, or its object lost its memory. */
interface MapForgotten extends Common {
  readonly type: "info";
  readonly f: "map-forget";
}

/** A backend has read the whole state, when everything had settled. */
export interface MapRead extends Common {
  readonly type: "ok";
  readonly f: "map-read";
  readonly epoch: string;
  readonly offset: number;
  readonly entries: readonly MapEntryTold[];
}
