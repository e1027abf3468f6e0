import type { Handler } from "hono";
import { Pools } from "../../src/gateway/pool.ts";
import { gatewayName } from "../platform/gateway-name.ts";
import { parseRegion } from "../platform/region.ts";
import { admit } from "./admit.ts";
import type { Served } from "./configure.ts";
import { findRoom } from "./find-room.ts";

/**
 * `GET /connection/websocket`, which every client opens by default: hands a socket for many channels over to a gateway of
 * the client's region.
 */
export function connect(): Handler<Served> {
  const pools = new Pools();
  return async (context) => {
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const { name: region, locationHint } = parseRegion(context.req.raw.cf?.["continent"]);
    const options = locationHint === undefined ? {} : { locationHint };
    const objectAt = (index: number) => {
      const name = gatewayName({ kind: "pool", region, index });
      return { object: context.env.GATEWAYS.getByName(name, options), avoidWhenBroken: true };
    };
    return findRoom({ pools, name: region, objectAt }, admission.handover);
  };
}
