import { dormouse } from "./dormouse.ts";
import { limit } from "./limit.ts";
import { nodeSystem } from "./node-system.ts";
import { nullSystem } from "./null.ts";
import { partyserver } from "./partyserver.ts";
import type { System } from "./system.ts";
import { isStartedName } from "../results/shown-system.ts";
import type { Peer } from "./peer.ts";
import { weakenedOf } from "./weakened.ts";
import { peerSystem } from "./peer-system.ts";
import type { StartedName, SystemName } from "./wire.ts";

/** Gives each system by its name: those that the bench starts, and these peers. */
export function systemsWith(peers: readonly Peer[]): (name: SystemName) => System {
  return (name) => {
    const weakened = weakenedOf(name);
    if (weakened !== undefined) return dormouse(name, "history", weakened.rule);
    if (isStartedName(name)) return started[name];
    const peer = peers.find((each) => each.name === name);
    if (peer === undefined) throw new Error(`Nobody said where ${name} is`);
    return peerSystem(peer);
  };
}

const started: Readonly<Record<StartedName, System>> = {
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
