import { missingBindings } from "../../src/contract/bindings.ts";
import type { Env } from "../platform/env.ts";

/** What a Worker of one's own binds for its real-time layer, beside its own. Secrets are strings of the same environment. */
export interface RealtimeBindings {
  readonly CHANNELS: DurableObjectNamespace;
  readonly GATEWAYS: DurableObjectNamespace;
  readonly USERS: DurableObjectNamespace;
}

/** Whether an environment has the objects; what they are called, only the platform knows. */
export function isBound(env: object): env is Env {
  return unboundIn(env).length === 0;
}

/** A sentence for each binding that is missing. */
export function unboundIn(env: object): readonly string[] {
  return missingBindings((name) => name in env, false);
}
