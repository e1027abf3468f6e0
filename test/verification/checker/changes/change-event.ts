/**
 * What happens to publications that are edited, deleted and erased (the rules ED): a backend asks for changes, clients are
 * shown publications, and backends read them. Each text is unique in the history.
 */
export type ChangeEvent =
  | ChangeAsked
  | ChangeDone
  | ChangeLeft
  | ChangesFollowed
  | ChangedShown
  | FollowingLeft
  | ChangedRead;

interface Common {
  /** µs since some fixed moment, as in `HistoryEvent`. */
  readonly time: number;
  readonly process: string;
  readonly channel: string;
}

/** A backend publishes a text, or changes one that it knows to be there. Repeats belong to the same change. */
export interface ChangeAsked extends Common {
  readonly type: "invoke";
  readonly f: "change";
  /** Unique in the history. */
  readonly change: string;
  readonly method: "publish" | "edit" | "delete" | "erase";
  /** The offset of what is changed; absent of a publish. */
  readonly target?: number;
  /** The new text of a publish and of an edit. */
  readonly value?: string;
}

export interface ChangeDone extends Common {
  readonly type: "ok";
  readonly f: "change";
  readonly change: string;
  readonly offset: number;
  /** The version that the publication has now; absent of a publish, of an erasure, and if an earlier attempt did it. */
  readonly version?: number;
}

/** Nothing was changed for certain (fail), or the backend never learns whether (info): it leaves that publication alone. */
interface ChangeLeft extends Common {
  readonly type: "fail" | "info";
  readonly f: "change";
  readonly change: string;
}

/** A subscribe was answered. What it recovers follows at once. */
export interface ChangesFollowed extends Common {
  readonly type: "ok";
  readonly f: "change-follow";
  /** When the client began to ask, µs. */
  readonly asked: number;
  readonly epoch: string;
  /** Of the last publication before those that follow. */
  readonly offset: number;
}

/** A publication as somebody got it. */
export interface ChangedTold {
  readonly offset: number;
  /** Its text; absent if it has none. */
  readonly value?: string;
  /** The version of a publication that isn't a change itself. */
  readonly version?: number;
}

export interface ChangedShown extends Common, ChangedTold {
  readonly type: "ok";
  readonly f: "change-show";
}

/** The client has noticed that its subscription has ended. */
interface FollowingLeft extends Common {
  readonly type: "info";
  readonly f: "change-leave";
}

/** A backend has read the history. */
interface ChangedRead extends Common {
  readonly type: "ok";
  readonly f: "change-read";
  /** When it asked, µs. */
  readonly asked: number;
  readonly rows: readonly ChangedTold[];
}
