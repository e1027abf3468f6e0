import { isWeakenedName, weakenedOf } from "../systems/weakened.ts";
import type { StartedName, SystemName } from "../systems/wire.ts";

/** The look of a system in a chart. */
interface Look {
  readonly colour: string;
  /** The dashes of its line, in SVG's notation; "" for a continuous line. */
  readonly dashes: string;
}

/** In the order of all lists: Dormouse, the limit, and the other servers. */
const looks: Readonly<Record<StartedName, Look>> = {
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

/** All systems that the bench starts, in the order of all lists. */
export const systemOrder: readonly StartedName[] = Object.keys(looks).filter(isStartedName);

/** Compares two systems by the order of all lists; peers come last, by their names. */
export function bySystem(one: SystemName, other: SystemName): number {
  return placeOf(one) - placeOf(other) || (one < other ? -1 : one > other ? 1 : 0);
}

/** Dormouse, in its four ways of use. */
export const ownSystems: readonly SystemName[] = [
  "channel",
  "channel-no-history",
  "gateway",
  "gateway-no-history",
];

/** Whether a system is Dormouse, whole or without a rule. */
export function isOwnSystem(system: SystemName): boolean {
  return ownSystems.includes(system) || isWeakenedName(system);
}

/** The limit program that writes as much as a system does: a row for each publication, or nothing. */
export function limitOf(system: SystemName): SystemName {
  return system.endsWith("-no-history") ? "limit" : "durable-limit";
}

/** The other servers. */
export const otherSystems: readonly SystemName[] = ["ws", "socket.io", "partyserver"];

export function isStartedName(name: string): name is StartedName {
  return Object.hasOwn(looks, name);
}

/** The look of a peer depends on its name, so that it is the same in every chart. */
export function lookOf(system: SystemName): Look {
  const weakened = weakenedOf(system);
  if (weakened !== undefined) return { ...looks[weakened.system], dashes: "8 3 2 3" };
  if (isStartedName(system)) return looks[system];
  const sum = Array.from(system).reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  return { colour: peerColours[sum % peerColours.length] ?? "#000000", dashes: "8 3" };
}

function placeOf(system: SystemName): number {
  const weakened = weakenedOf(system);
  // Beside the whole one.
  if (weakened !== undefined) return systemOrder.indexOf(weakened.system) + 0.5;
  return isStartedName(system) ? systemOrder.indexOf(system) : systemOrder.length;
}

const peerColours = ["#00838f", "#ad1457", "#6d4c41", "#3949ab", "#827717"] as const;
