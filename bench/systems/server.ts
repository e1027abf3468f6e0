import type { Peer } from "./peer.ts";
import type { RunningSystem } from "./system.ts";
import type { SystemName } from "./wire.ts";

/** Where a server listens. */
export interface Endpoint {
  /** A name or an IPv4 address. */
  readonly host: string;
  readonly port: number;
}

/** A running server, as the load generator reaches it. */
export interface Server {
  readonly system: SystemName;
  /** For WebSockets. */
  readonly sockets: Endpoint;
  /** For posts. */
  readonly api: Endpoint;
  /** The paths and the key of a server that the bench didn't start. */
  readonly peer?: Peer;
}

/** The server of a started system. The bench starts its own systems on this machine. */
export function serverOf(system: SystemName, { port, peer }: RunningSystem): Server {
  if (peer !== undefined) return { system, sockets: peer.sockets, api: peer.api, peer };
  const endpoint = { host: "127.0.0.1", port };
  return { system, sockets: endpoint, api: endpoint };
}
