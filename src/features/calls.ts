import type { WhyCalls } from "./why/calls.ts";
import { ObjectTrail } from "./why/object-trail.ts";

/** The calls that features add to all objects with clients' sockets. */
export type FeatureCalls = WhyCalls;

/** The part that answers them. */
export const AnsweringPart = ObjectTrail;
