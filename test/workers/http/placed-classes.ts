import { env } from "cloudflare:workers";
import type { Env } from "../../../workers/platform/env.ts";

type Class = Env["CHANNELS"] | Env["GATEWAYS"] | Env["USERS"] | NonNullable<Env["METRICS"]>;

/** An object that the Worker asked the platform for. */
interface FoundObject {
  readonly of: string;
  readonly name: string;
  /** Absent if it is in none. */
  readonly jurisdiction?: string;
  readonly locationHint?: string;
}

/**
 * The classes of objects as on Cloudflare, where they have jurisdictions: workerd has none ("Jurisdiction restrictions are
 * not implemented in workerd"), so that here the objects are the same ones under each, and the test sees which one was
 * asked for.
 *
 * @param found gets them
 */
export function placedClasses(
  found: FoundObject[],
): Pick<Env, "CHANNELS" | "GATEWAYS" | "USERS" | "METRICS"> {
  const watched = <Objects extends Class>(of: string, objects: Objects): Objects => {
    const inside = (jurisdiction?: string): Objects =>
      new Proxy(objects, {
        get: (target, property) => {
          if (property === "jurisdiction") return (name: string) => inside(name);
          if (property !== "getByName") return Reflect.get(target, property);
          return (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
            const hint = options?.locationHint;
            found.push({
              of,
              name,
              ...(jurisdiction !== undefined && { jurisdiction }),
              ...(hint !== undefined && { locationHint: hint }),
            });
            return objects.getByName(name, options);
          };
        },
      });
    return inside();
  };
  return {
    CHANNELS: watched("channel", env.CHANNELS),
    GATEWAYS: watched("gateway", env.GATEWAYS),
    USERS: watched("home", env.USERS),
    METRICS: watched("metrics", env.METRICS),
  };
}
