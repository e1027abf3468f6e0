import type { ObjectState, StateQuery } from "./object-state.ts";
import type { TrailAnswer, TrailQuery } from "./trail.ts";

/** The calls that every object with clients' sockets answers to those who ask (rule V1 holds for them). */
export interface WhyCalls {
  /** Reports what the object knows of the way of a publication (rules Y1 and Y2). */
  trail(query: TrailQuery): Promise<TrailAnswer>;
  /** Reports the object's live state (rule Y4). */
  inspect(query: StateQuery): Promise<ObjectState>;
}
