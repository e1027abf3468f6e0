import type { SystemName } from "../systems/wire.ts";

/** How a system is told apart from the others in a picture. */
interface Look {
  readonly colour: string;
  /** Of its line, as SVG takes it; "" for a line without gaps. */
  readonly dashes: string;
}

/** In the order in which all that is shown lists them: ours, what they are held against, and what others use. */
const looks: Readonly<Record<SystemName, Look>> = {
  channel: { colour: "#1a7f4b", dashes: "" },
  "channel-no-history": { colour: "#1a7f4b", dashes: "5 4" },
  gateway: { colour: "#b3261e", dashes: "" },
  "gateway-no-history": { colour: "#b3261e", dashes: "5 4" },
  limit: { colour: "#222222", dashes: "2 3" },
  ws: { colour: "#1f6feb", dashes: "" },
  "socket.io": { colour: "#8e44ad", dashes: "" },
  partyserver: { colour: "#c77700", dashes: "" },
  null: { colour: "#888888", dashes: "" },
};

/** All systems, in the order in which they are shown. */
export const systemOrder: readonly SystemName[] = Object.keys(looks).filter(isSystemName);

/** Dormouse itself, in the four ways in which it is used. */
export const ownSystems: readonly SystemName[] = [
  "channel",
  "channel-no-history",
  "gateway",
  "gateway-no-history",
];

/** What people would use instead. */
export const otherSystems: readonly SystemName[] = ["ws", "socket.io", "partyserver"];

export function isSystemName(name: string): name is SystemName {
  return Object.hasOwn(looks, name);
}

export function lookOf(system: SystemName): Look {
  return looks[system];
}
