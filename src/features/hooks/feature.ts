import type { Feature } from "../feature.ts";
import { newHooks } from "./object-hooks.ts";

/** Questions to backends about what clients do. */
export const hooks = { ofObject: newHooks } as const satisfies Feature;
