import type { Peer } from "./peer.ts";
import type { SystemName } from "./wire.ts";

/** The homes of users: shared as in the product, none, or an object for each user, which the product hasn't. */
export type Homes = "shared" | "none" | "one-each";

/** A scenario's requirements of a system. */
export interface SystemOptions {
  /** The history size of each channel; {@link usualHistorySize} by default. Without effect on systems without history. */
  readonly historySize?: number;
  /** Whether callers have tokens that must be verified; otherwise every caller may connect and subscribe. */
  readonly tokens?: boolean;
  /** Whether a backend is asked about connects, and when (rule Q10); it isn't if absent. */
  readonly connectHook?: "connect" | "upgrade";
  /** Whether clients may take minutes to connect, where many come at once; otherwise they have the product's 10 s. */
  readonly patient?: boolean;
  /** The homes of users; those of the product if absent. */
  readonly homes?: Homes;
  /** The sockets that one object may hold; the product's default if absent. */
  readonly socketsPerObject?: number;
  /** Whether the channels of the namespace `code` have code. */
  readonly code?: boolean;
  /** How often the server pings a client, ms; the product's default if absent. */
  readonly pingIntervalMs?: number;
  /** Whether workerd's inspector is on, and objects can be evicted from outside. */
  readonly observed?: boolean;
  /** Whether the objects' rows, calls and alarms are counted. */
  readonly counted?: boolean;
}

/** The history size of a channel, where a scenario has no other. */
export const usualHistorySize = 100;

/** Starts a system as processes of its own. */
export interface System {
  readonly name: SystemName;
  start(options: SystemOptions): Promise<RunningSystem>;
}

export interface RunningSystem {
  /** Of its WebSockets; on 127.0.0.1, unless it is a peer. */
  readonly port: number;
  /** The process whose memory is measured; absent for a peer. */
  readonly processId?: number;
  /** The addresses of a server that the bench didn't start. */
  readonly peer?: Peer;
  /** The port of workerd's inspector, if it is on. */
  readonly inspectorPort?: number;
  /** Evicts all objects; their sockets stay. Only with `observed`, and only for systems with objects. */
  sleep(): Promise<void>;
  /** The counts since the last call; only with `counted`. */
  counts(): Promise<Counts>;
  stop(): Promise<void>;
}

/** Quantities that Cloudflare bills or limits. */
export interface Counts {
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** Calls between objects. */
  readonly callsBetweenObjects: number;
  /** Calls and upgrades of the Worker to objects. */
  readonly requestsToObjects: number;
  /** Frames from clients. */
  readonly framesReceived: number;
  readonly framesSent: number;
  readonly bytesSent: number;
  readonly alarmsSet: number;
  readonly alarmsRung: number;
}
