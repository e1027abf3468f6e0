import { isStartedName } from "../results/shown-system.ts";
import { dormouseWire } from "./dormouse-wire.ts";
import { limitWire } from "./limit-wire.ts";
import { nullWire } from "./null-wire.ts";
import { partyserverWire, socketIoWire, wsWire } from "./peer-wires.ts";
import { peerWire } from "./peer-wire.ts";
import type { Server } from "./server.ts";
import { weakenedOf } from "./weakened.ts";
import type { StartedName, Wire } from "./wire.ts";

/** How to speak to a server. */
export function wireOf({ system, peer }: Pick<Server, "system" | "peer">): Wire {
  if (peer !== undefined) return peerWire(peer);
  const whole = weakenedOf(system)?.system ?? system;
  if (!isStartedName(whole)) throw new Error(`Nobody said how to reach ${system}`);
  return wires[whole];
}

/** The wire of each system that the bench starts. */
export const wires: Readonly<Record<StartedName, Wire>> = {
  channel: dormouseWire("channel"),
  "channel-no-history": dormouseWire("channel"),
  gateway: dormouseWire("gateway"),
  "gateway-no-history": dormouseWire("gateway"),
  limit: limitWire,
  "durable-limit": limitWire,
  ws: wsWire,
  "socket.io": socketIoWire,
  partyserver: partyserverWire,
  null: nullWire,
};
