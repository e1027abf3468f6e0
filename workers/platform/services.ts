import { functionsBinding, type Target, unboundTargets } from "../../src/config/targets.ts";
import { embeddedHere, type Service } from "./embedded.ts";

/** The Worker of a service binding. The operator chooses the names of bindings, so the type of the environment has none. */
export function serviceOf(env: object, binding: string): Service | undefined {
  if (binding === functionsBinding) return embeddedHere()?.hooks;
  const service: unknown = Reflect.get(env, binding);
  return isService(service) ? service : undefined;
}

function isService(value: unknown): value is Service {
  if (typeof value !== "object" || value === null) return false;
  return typeof Reflect.get(value, "fetch") === "function";
}

/** The queue of a binding, as {@link serviceOf}. */
export function queueOf(env: object, binding: string): Producer | undefined {
  const queue: unknown = Reflect.get(env, binding);
  return isProducer(queue) ? queue : undefined;
}

/** The part of a queue's binding that is used. */
interface Producer {
  send(body: object, options: { readonly contentType: "json" }): Promise<unknown>;
}

function isProducer(value: unknown): value is Producer {
  if (typeof value !== "object" || value === null) return false;
  return typeof Reflect.get(value, "send") === "function";
}

/** The problems of bindings that the configuration names and that the environment doesn't have (rule A8). */
export function missingTargets(targets: readonly Target[], env: object): readonly string[] {
  return unboundTargets(
    targets,
    (kind, binding) =>
      (kind === "queue" ? queueOf(env, binding) : serviceOf(env, binding)) !== undefined,
  );
}
