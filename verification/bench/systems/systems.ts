import { dormouse } from "./dormouse.ts";
import { limit } from "./limit.ts";
import { nodeSystem } from "./node-system.ts";
import { nullSystem } from "./null.ts";
import { partyserver } from "./partyserver.ts";
import type { System } from "./system.ts";
import type { SystemName } from "./wire.ts";

/** All systems by name. */
export const systems: Readonly<Record<SystemName, System>> = {
  channel: dormouse("channel", "history"),
  "channel-no-history": dormouse("channel-no-history", "no-history"),
  gateway: dormouse("gateway", "history"),
  "gateway-no-history": dormouse("gateway-no-history", "no-history"),
  limit: limit("limit"),
  "durable-limit": limit("durable-limit"),
  ws: nodeSystem("ws", "ws-server.js"),
  "socket.io": nodeSystem("socket.io", "socket-io-server.js"),
  partyserver,
  null: nullSystem,
};
