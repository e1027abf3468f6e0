import type { Wire } from "../systems/wire.ts";
import type { Subscribers } from "./subscribers.ts";

/** The system that is spoken to, and who listens to it. */
export interface Connected {
  readonly wire: Wire;
  readonly port: number;
  readonly subscribers: Subscribers;
}
