import type { Wire } from "../systems/wire.ts";
import type { Subscribers } from "./subscribers.ts";

/** The system under test, and its subscribers. */
export interface Connected {
  readonly wire: Wire;
  readonly port: number;
  readonly subscribers: Subscribers;
}
