import type { Feature } from "../feature.ts";
import { newHooks } from "./approver.ts";

/** Questions to backends about what clients do. */
export const hooks = { ofObject: newHooks } as const satisfies Feature;
