import type { Target } from "../../src/config/targets.ts";
import { embeddedHere, functionsBinding, type Service } from "./embedded.ts";

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

/**
 * The problems of bindings that the configuration names and that aren't there (rule A8).
 *
 * @returns a sentence for each; none if the Worker has all of them
 */
export function missingTargets(targets: readonly Target[], env: object): readonly string[] {
  return targets.flatMap(({ key, endpoint }) => {
    if (endpoint.kind === "url") return [];
    const { kind, binding } = endpoint;
    const isThere = kind === "queue" ? queueOf(env, binding) : serviceOf(env, binding);
    if (isThere !== undefined) return [];
    const [what, where] =
      kind === "queue" ? ["queue", "[[queues.producers]]"] : ["Worker", "[[services]]"];
    return [
      `binding ${binding} to the ${what} that ${key} names is missing: add it to ${where} in wrangler.toml`,
    ];
  });
}
