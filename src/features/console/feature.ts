import type { Feature } from "../feature.ts";
import { consoleCalls } from "./calls.ts";

/** The operator's console. */
export const consoleFeature = { sessionCalls: consoleCalls } as const satisfies Feature;
