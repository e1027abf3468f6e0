import type { SystemName } from "../systems/wire.ts";

/** The look of a system in a chart. */
interface Look {
  readonly colour: string;
  /** The dashes of its line, in SVG's notation; "" for a continuous line. */
  readonly dashes: string;
}

/** In the order of all lists: Dormouse, the limit, and the other servers. */
const looks: Readonly<Record<SystemName, Look>> = {
  channel: { colour: "#1a7f4b", dashes: "" },
  "channel-no-history": { colour: "#1a7f4b", dashes: "5 4" },
  gateway: { colour: "#b3261e", dashes: "" },
  "gateway-no-history": { colour: "#b3261e", dashes: "5 4" },
  limit: { colour: "#222222", dashes: "2 3" },
  "durable-limit": { colour: "#222222", dashes: "" },
  ws: { colour: "#1f6feb", dashes: "" },
  "socket.io": { colour: "#8e44ad", dashes: "" },
  partyserver: { colour: "#c77700", dashes: "" },
  null: { colour: "#888888", dashes: "" },
};

/** All systems, in the order of all lists. */
export const systemOrder: readonly SystemName[] = Object.keys(looks).filter(isSystemName);

/** Dormouse, in its four ways of use. */
export const ownSystems: readonly SystemName[] = [
  "channel",
  "channel-no-history",
  "gateway",
  "gateway-no-history",
];

/** The limit program that writes as much as a system does: a row for each publication, or nothing. */
export function limitOf(system: SystemName): SystemName {
  return system.endsWith("-no-history") ? "limit" : "durable-limit";
}

/** The other servers. */
export const otherSystems: readonly SystemName[] = ["ws", "socket.io", "partyserver"];

export function isSystemName(name: string): name is SystemName {
  return Object.hasOwn(looks, name);
}

export function lookOf(system: SystemName): Look {
  return looks[system];
}
