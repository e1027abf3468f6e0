import type { SystemName } from "./wire.ts";

/** What a scenario needs of a system beyond its usual way. */
export interface SystemOptions {
  /** Publications kept of each channel; 100 if it isn't given. Nothing to those without a history. */
  readonly historySize?: number;
  /** Callers come with tokens that have to be verified; otherwise anybody may connect and subscribe. */
  readonly tokens?: boolean;
  /** Sockets that one object may hold; the product's own limit if it isn't given. */
  readonly socketsPerObject?: number;
  /** The inspector of workerd is on, and objects can be put to sleep from outside. */
  readonly observed?: boolean;
  /** The objects' rows, calls and alarms are counted. */
  readonly counted?: boolean;
}

/** Starts one of the systems, each as processes of its own. */
export interface System {
  readonly name: SystemName;
  start(options: SystemOptions): Promise<RunningSystem>;
}

export interface RunningSystem {
  /** On 127.0.0.1. */
  readonly port: number;
  /** The process whose memory counts. */
  readonly processId: number;
  /** Of workerd, where it was asked for. */
  readonly inspectorPort?: number;
  /** Throws the memory of all its objects away; their sockets stay. Only where it was asked for, and only objects sleep. */
  sleep(): Promise<void>;
  /** What its objects have done since the last time it was asked; only where it was asked for. */
  counts(): Promise<Counts>;
  stop(): Promise<void>;
}

/** What Cloudflare would bill or limit. */
export interface Counts {
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** Calls that objects made to one another. */
  readonly callsBetweenObjects: number;
  /** Calls and upgrades of the Worker to objects. */
  readonly requestsToObjects: number;
  /** Frames that clients sent. */
  readonly framesReceived: number;
  readonly framesSent: number;
  readonly bytesSent: number;
  readonly alarmsSet: number;
  readonly alarmsRung: number;
}
