import { otherSystems } from "../results/shown-system.ts";
import type { SystemName } from "../systems/wire.ts";

/** Dormouse with history, and what the runtime can do: those whose objects sleep, verify tokens and can be looked into. */
export const objectSystems: readonly SystemName[] = ["channel", "gateway", "limit"];

/** The same beside what people would use instead. */
export const comparedSystems: readonly SystemName[] = [...objectSystems, ...otherSystems];
