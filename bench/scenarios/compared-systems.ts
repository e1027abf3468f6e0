import { otherSystems } from "../results/shown-system.ts";
import { isPeerName } from "../systems/peer.ts";
import { isWeakenedName } from "../systems/weakened.ts";
import type { Bench } from "./scenario.ts";
import type { SystemName } from "../systems/wire.ts";

/**
 * Dormouse with history, and the limit program that writes as much: the systems whose objects hibernate, verify tokens
 * and can be inspected.
 */
export const objectSystems: readonly SystemName[] = ["channel", "gateway", "durable-limit"];

/** Dormouse with history, whole and without each rule that `--without` names, and the peers. */
export function ownAndPeers(bench: Bench): readonly SystemName[] {
  return ["channel", "gateway", ...bench.systems.filter(isWeakenedName), ...peersOf(bench)];
}

/** The systems with objects, the other servers, and the peers. */
export function comparedSystems(bench: Bench): readonly SystemName[] {
  return [...objectSystems, ...otherSystems, ...peersOf(bench)];
}

/** The same for scenarios whose quick version leaves the other servers out, because each of their turns takes seconds. */
export function mainlyComparedSystems(bench: Bench): readonly SystemName[] {
  return bench.quick ? [...objectSystems, ...peersOf(bench)] : comparedSystems(bench);
}

/** The servers that the bench didn't start. */
export function peersOf({ systems }: Bench): readonly SystemName[] {
  return systems.filter(isPeerName);
}
