import type { Feature } from "../feature.ts";
import { newEvents, newHomeEvents, reportsWhoIsOnline } from "./event-delivery.ts";
import { eventsOperations } from "./events-request.ts";

/** Events that are reported to a backend. */
export const events = {
  operations: eventsOperations,
  ofObject: newEvents,
  ofHome: newHomeEvents,
  isOfHomes: reportsWhoIsOnline,
} as const satisfies Feature;
