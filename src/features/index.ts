import type { NewPart } from "../object/part.ts";
import { newEvents } from "./events/event-delivery.ts";
import { newObjectMetrics } from "./metrics/object-metrics.ts";

/**
 * What the features add to objects that hold clients' sockets. At the end of an event, what is counted goes first: an
 * event that is sent counts for the next report.
 */
export const objectParts: readonly NewPart[] = [newObjectMetrics, newEvents];
