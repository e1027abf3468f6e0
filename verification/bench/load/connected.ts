import type { Wire } from "../systems/wire.ts";
import type { Audience } from "./audience.ts";

/** The system that is spoken to, and who listens to it. */
export interface Connected {
  readonly wire: Wire;
  readonly port: number;
  readonly audience: Audience;
}
