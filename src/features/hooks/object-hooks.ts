import type { ObjectPart, PartHost } from "../../object/part.ts";
import { BackendApprover } from "./approver.ts";
import { Hooks } from "./hooks.ts";

/** The hooks of an object: asks backends for its sessions, and for other parts, which share the bounds of a backend. */
export class ObjectHooks extends Hooks implements ObjectPart {
  readonly ofSessions = { approver: new BackendApprover(this) };
}

/** Makes the hooks of an object; undefined where the configuration has none. */
export function newHooks({ config, askBackend }: PartHost): ObjectHooks | undefined {
  return config.hooks.targets.size === 0 ? undefined : new ObjectHooks(askBackend);
}
