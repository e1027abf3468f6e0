import type { AddedSessionCalls } from "../../contract/object-calls.ts";
import type { AddedCalls, PartedObject } from "../../object/part.ts";
import type { ObjectState, StateQuery } from "./object-state.ts";
import { ObjectTrail } from "./object-trail.ts";
import type { TrailAnswer, TrailQuery } from "./trail.ts";
import type { Feature } from "../feature.ts";
import { whyMethods, whyOperations } from "./methods.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedSessionCalls {
    /** Reports what the object knows of the way of a publication (rules Y1 and Y2). */
    trail(query: TrailQuery): Promise<TrailAnswer>;
    /** Reports the object's live state (rule Y4). */
    inspect(query: StateQuery): Promise<ObjectState>;
  }
}

type WhyCalls = Pick<AddedSessionCalls, "trail" | "inspect">;

/** The calls of those who ask why, or how an object is. Every object has an {@link ObjectTrail}. */
export const whyCalls: AddedCalls<WhyCalls, PartedObject> = {
  trail: {
    answer(object, [query], done) {
      const trail = object.part(ObjectTrail);
      if (trail !== undefined) done(trail.trail(query));
    },
  },
  inspect: {
    answer(object, [query], done) {
      object.part(ObjectTrail)?.inspect(query, done);
    },
  },
};

/** Why a publication didn't reach a client, and how objects are. */
export const why = {
  operations: whyOperations,
  methods: whyMethods,
  sessionCalls: whyCalls,
  ofObject: (object) => new ObjectTrail(object),
} as const satisfies Feature;
