import type { HookTarget } from "../../src/config/config.ts";

/** The Worker of a service binding. The operator chooses the names of bindings, so the type of the environment has none. */
export function serviceOf(env: object, binding: string): Service | undefined {
  const service: unknown = Reflect.get(env, binding);
  return isService(service) ? service : undefined;
}

/** The part of a service binding that hooks use. */
interface Service {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

function isService(value: unknown): value is Service {
  if (typeof value !== "object" || value === null) return false;
  return typeof Reflect.get(value, "fetch") === "function";
}

/**
 * The problems of service bindings that hooks need and that aren't there (rule A8).
 *
 * @returns a sentence for each; none if the Worker has all of them
 */
export function missingServices(
  targets: ReadonlyMap<string, HookTarget>,
  env: object,
): readonly string[] {
  return [...targets.values()].flatMap(({ name, endpoint }) => {
    if (endpoint.kind !== "service" || serviceOf(env, endpoint.binding) !== undefined) return [];
    const { binding } = endpoint;
    return [
      `binding ${binding} to the Worker that ${name} asks is missing: add it to [[services]] in wrangler.toml`,
    ];
  });
}
