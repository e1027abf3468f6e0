import { dormouseWire } from "./dormouse-wire.ts";
import { limitWire } from "./limit-wire.ts";
import { nullWire } from "./null-wire.ts";
import { partyserverWire, socketIoWire, wsWire } from "./peer-wires.ts";
import type { SystemName, Wire } from "./wire.ts";

/** The wire of each system. */
export const wires: Readonly<Record<SystemName, Wire>> = {
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
