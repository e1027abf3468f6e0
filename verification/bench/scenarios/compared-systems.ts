import { otherSystems } from "../results/shown-system.ts";
import type { SystemName } from "../systems/wire.ts";

/**
 * Dormouse with history, and the limit program that writes as much: the systems whose objects hibernate, verify tokens
 * and can be inspected.
 */
export const objectSystems: readonly SystemName[] = ["channel", "gateway", "durable-limit"];

/** The same, and the other servers. */
export const comparedSystems: readonly SystemName[] = [...objectSystems, ...otherSystems];
