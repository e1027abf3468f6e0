import { Pools } from "../../src/gateway/pool.ts";
import { gatewayName } from "../../src/contract/object-names.ts";
import { parseRegion } from "../platform/region.ts";
import type { Endpoint } from "./endpoint.ts";

/** `/connection/…`, which every client opens by default: a gateway of the client's region, for many channels. */
export function regionEndpoint(): Endpoint {
  const pools = new Pools();
  return (context) => {
    const { name: region, locationHint } = parseRegion(context.req.raw.cf?.["continent"]);
    const options = locationHint === undefined ? {} : { locationHint };
    const objectAt = (index: number) => {
      const name = gatewayName({ kind: "pool", region, index });
      return { object: context.env.GATEWAYS.getByName(name, options), avoidWhenBroken: true };
    };
    return { outcome: "pool", pool: { pools, name: region, objectAt } };
  };
}
