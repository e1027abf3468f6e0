import type { Env } from "../../../workers/platform/env.ts";

/** One object that the edge asked to take a socket. */
export interface AskedObject {
  readonly name: string;
  readonly locationHint?: DurableObjectLocationHint;
  readonly request: Request;
}

type Namespace = Env["CHANNELS"] | Env["GATEWAYS"];

/**
 * A namespace with the test in the place of its objects: it sees which one the edge asks to take a socket, and answers for
 * it.
 */
export function watchedUpgrades<Objects extends Namespace>(
  objects: Objects,
  answer: (asked: AskedObject) => Promise<Response>,
): Objects {
  return new Proxy(objects, {
    get: (target, property) =>
      property === "getByName"
        ? (name: string, { locationHint }: DurableObjectNamespaceGetDurableObjectOptions = {}) => ({
            id: objects.getByName(name).id,
            fetch: (to: string, init: RequestInit) =>
              answer({
                name,
                request: new Request(to, init),
                ...(locationHint !== undefined && { locationHint }),
              }),
          })
        : Reflect.get(target, property),
  });
}

/** A namespace that no request may reach. */
export function untouchable<Objects extends Namespace>(objects: Objects): Objects {
  return new Proxy(objects, {
    get: () => {
      throw new Error("an object was touched");
    },
  });
}
