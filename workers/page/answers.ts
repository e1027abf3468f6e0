/** The answers of the server, as far as the console reads them (docs/protocol.md 6.2 and docs/why.md). */
import type { ChannelOptions, HookTarget } from "../../src/config/config.ts";

export interface Settings {
  readonly version: string;
  readonly login: "password" | "access" | "worker";
  readonly report_ms: number;
  readonly namespace_boundary: string;
  readonly private_prefix: string;
  readonly user_boundary: string;
  /** The longest name of a channel, in bytes. */
  readonly max_length: number;
  /** Whether users have homes, without which the server can't list connections and channels. */
  readonly users: boolean;
  /** The most publications of one answer to a client, and those with which a client may recover. */
  readonly history_max: number;
  readonly recovery_max: number;
  /** The applications whose clients speak the Pusher protocol. */
  readonly apps: readonly {
    readonly id: string;
    readonly key: string;
    readonly namespace: string;
  }[];
  readonly namespaces: readonly NamespaceSettings[];
}

export interface NamespaceSettings {
  /** "" for channels without one. */
  readonly name: string;
  readonly presence: boolean;
  readonly type: string;
  readonly options: ShownOptions;
  /** The rates of commands that the configuration sets here. */
  readonly rates: readonly CommandRate[];
}

/** The options of a namespace, with the paths of their sections in place of backends. */
export type ShownOptions = Shown<ChannelOptions>;

type Shown<Value> = {
  readonly [Name in keyof Value]: Value[Name] extends HookTarget | undefined
    ? string
    : Value[Name] extends object | undefined
      ? Shown<Value[Name]>
      : Value[Name];
};

/** How often all commands of a kind, or all of one method, may be sent: by a connection, or by all of a user. */
interface CommandRate {
  readonly of: "connection" | "user";
  readonly method: string;
  /** How many times at once. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Metrics {
  readonly at_ms: number;
  readonly counters: SeriesValues;
  readonly gauges: SeriesValues;
  readonly histograms: Readonly<
    Record<string, { readonly sum: number; readonly counts: readonly number[] }>
  >;
  readonly buckets: { readonly requests: readonly number[] };
  /** The counters an hour ago, or when they began. */
  readonly hour?: CounterMark;
  /** The counters when the day began in UTC, or since when they are known. */
  readonly today?: CounterMark;
  /** The past hour, if it was asked for; the last one ends now, and began a moment ago. */
  readonly past?: readonly PastSpan[];
}

/** What was counted from one time to another one, and the gauges at its end. */
export interface PastSpan {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly publications: number;
  readonly deliveries: number;
  readonly requests: number;
  readonly refusals: number;
  /** Answers of the HTTP API, by the buckets of their times. */
  readonly answers: readonly number[];
  readonly clients: number;
  readonly subscriptions: number;
  readonly channels: number;
}

export interface CounterMark {
  readonly since_ms: number;
  readonly counters: SeriesValues;
}

/** The values of series, by their names with labels. */
export type SeriesValues = Readonly<Record<string, number>>;

export interface Info extends Paged {
  readonly nodes: readonly {
    readonly uid: string;
    readonly name: string;
    readonly version: string;
    readonly num_clients: number;
    readonly num_users: number;
    readonly num_channels: number;
    readonly num_subs: number;
    readonly uptime: number;
    readonly region?: string;
  }[];
}

export interface Channels extends Paged {
  readonly channels: Readonly<Record<string, { readonly num_clients: number }>>;
}

/** Users who have connections on gateways, in the order of their IDs. */
export interface ConnectedUsers extends Paged {
  readonly users: readonly { readonly user: string; readonly connections: number }[];
  /** Connections without a user. */
  readonly anonymous: number;
}

/** A page of a list; `cursor` begins the next one. */
interface Paged {
  readonly cursor?: string;
  readonly incomplete?: boolean;
}

export interface Publication {
  readonly offset?: number;
  /** Absent where a key is removed, and where a key has no value. */
  readonly data?: JsonValue;
  readonly tags?: Readonly<Record<string, string>>;
  readonly info?: { readonly user: string; readonly client: string };
}

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A publication, or a change of a map. */
export interface HistoryEntry extends Publication {
  readonly key?: string;
  readonly removed?: boolean;
}

/** What is kept, newest first: publications, or the entries of a map's stream. */
export interface History {
  readonly publications?: readonly HistoryEntry[];
  readonly entries?: readonly HistoryEntry[];
  readonly offset: number;
  readonly epoch: string;
}

export interface Presence {
  readonly presence: Readonly<Record<string, { readonly user: string; readonly client: string }>>;
}

export interface MapState {
  readonly entries: readonly (Publication & { readonly key: string })[];
  readonly cursor?: string;
}

/** What became of an edit or a deletion. */
export interface Changed {
  /** Of the change. */
  readonly offset: number;
  readonly version?: number;
  /** Why nothing was changed. */
  readonly suppress_reason?: string;
}

/** How many publications an erasure has found. */
export interface Erased {
  readonly erased: number;
}

export interface Position {
  readonly offset?: number;
  readonly epoch?: string;
}

export interface Connections {
  readonly connections: Readonly<Record<string, Connection>>;
  readonly incomplete?: boolean;
}

interface Connection {
  readonly app_name?: string;
  readonly app_version?: string;
  readonly node?: string;
  readonly connected_at_ms?: number;
  readonly transport?: string;
  readonly protocol?: string;
  readonly user?: string;
  readonly state?: { readonly channels?: Readonly<Record<string, object>> };
}

interface Subscribers {
  readonly count: number;
  readonly by_transport: Readonly<Record<string, number>>;
  readonly filtered: number;
  readonly delta: number;
}

export interface Inspected {
  readonly object: string;
  readonly version: string;
  readonly awake_since_ms: number;
  readonly woken_by: string;
  readonly events: Readonly<
    Record<string, { readonly since_wake: number; readonly last_hour: number }>
  >;
  readonly alarm_at_ms?: number;
  readonly stored_bytes: number;
  readonly backlog_bytes: number;
  readonly connections: { readonly connected: number };
  readonly subscribers?: Subscribers;
  readonly refusals?: readonly Refusal[];
  readonly channel?: {
    readonly namespace_configured?: boolean;
    readonly epoch?: string;
    readonly offset?: number;
    readonly newest_ms?: number;
    readonly history: { readonly publications: number; readonly size: number };
    readonly gateways: readonly {
      readonly object: string;
      readonly lag: number;
      readonly failures: number;
      readonly state?: string;
      readonly subscribers?: Subscribers;
      readonly backlog_bytes?: number;
    }[];
    readonly code?: CodeState;
  };
}

/** The code of a channel: what it has stored, and its last calls. */
export interface CodeState {
  readonly keys: number;
  readonly bytes?: number;
  readonly version?: number;
  readonly first_keys: readonly { readonly key: string; readonly value?: JsonValue }[];
  readonly timers: readonly {
    readonly name: string;
    readonly at_ms: number;
    readonly procedure: string;
    readonly tries: number;
  }[];
  readonly procedures: Readonly<Record<string, object>>;
  readonly last_calls: readonly {
    readonly procedure: string;
    readonly by: string;
    readonly outcome: string;
    readonly at_ms: number;
    readonly code?: number;
    readonly message?: string;
  }[];
}

interface Refusal {
  readonly at_ms: number;
  readonly count: number;
  readonly refused: string;
  readonly rule: string;
  readonly reason: string;
  readonly code?: number;
  readonly user?: string;
  readonly channel?: string;
  readonly key?: string;
}

/** A refusal that was reported: `object` has refused, which is `edge` for the Worker itself. */
export interface CollectedRefusal extends Refusal {
  readonly object: string;
}

export interface Why {
  readonly offset: number;
  readonly summary: string;
  readonly publication: {
    readonly state: string;
    readonly published_at_ms?: number;
    readonly by?: { readonly key?: string; readonly client?: string; readonly user?: string };
  };
  readonly objects: readonly {
    readonly object: string;
    readonly state?: string;
    readonly subscribers?: number;
    readonly offset?: number;
    readonly taken_at_ms?: number;
    readonly note?: string;
    readonly frame?: {
      readonly subscribers: number;
      readonly filtered: number;
      readonly left_out: number;
      readonly slow: number;
    };
  }[];
  readonly connections: readonly {
    readonly client: string;
    readonly object: string;
    readonly outcome: string;
    readonly summary: string;
  }[];
  readonly incomplete?: boolean;
}
