import { env } from "cloudflare:workers";
import { lostCall } from "./crash-object.ts";

/** Has the platform lose the calls of some methods to all gateways, until the returned function is called. */
export function loseCalls(...methods: readonly string[]): () => void {
  const { GATEWAYS } = env;
  const getByName = GATEWAYS.getByName.bind(GATEWAYS);
  GATEWAYS.getByName = (name, options) => {
    const stub = getByName(name, options);
    for (const method of methods) Object.defineProperty(stub, method, { value: lostCall });
    return stub;
  };
  return () => {
    GATEWAYS.getByName = getByName;
  };
}
