import type { Feature } from "../feature.ts";
import { newObjectMetrics } from "./object-metrics.ts";

/** Counts of what happens, for Prometheus and the console. */
export const metrics = { ofObject: newObjectMetrics } as const satisfies Feature;
