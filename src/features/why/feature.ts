import type { Feature } from "../feature.ts";
import { whyCalls } from "./calls.ts";
import { whyMethods, whyOperations } from "./methods.ts";
import { ObjectTrail } from "./object-trail.ts";

/** Why a publication didn't reach a client, and how objects are. */
export const why = {
  operations: whyOperations,
  methods: whyMethods,
  sessionCalls: whyCalls,
  ofObject: (object) => new ObjectTrail(object),
} as const satisfies Feature;
