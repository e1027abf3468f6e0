import { missingBindings } from "../../src/contract/bindings.ts";
import type { Env } from "../platform/env.ts";

/** What a Worker of one's own binds for its real-time layer, beside its own. Secrets are strings of the same environment. */
export interface RealtimeBindings {
  readonly CHANNELS: RealtimeObjects;
  readonly GATEWAYS: RealtimeObjects;
  readonly USERS: RealtimeObjects;
}

/**
 * The namespace of a class of objects, whatever is known of the class: the `Env` of `wrangler types` says `ChannelObject`, and
 * for older compilers a namespace with a class is none without.
 */
type RealtimeObjects = Pick<DurableObjectNamespace, "idFromName" | "newUniqueId">;

/** Whether an environment has the objects; what they are called, only the platform knows. */
export function isBound(env: object): env is Env {
  return unboundIn(env).length === 0;
}

/** A sentence for each binding that is missing. */
export function unboundIn(env: object): readonly string[] {
  return missingBindings((name) => name in env, false);
}
