import type { Server } from "../systems/server.ts";
import type { Wire } from "../systems/wire.ts";
import type { Subscribers } from "./subscribers.ts";

/** The system under test, and its subscribers. */
export interface Connected {
  readonly wire: Wire;
  readonly server: Server;
  readonly subscribers: Subscribers;
}
