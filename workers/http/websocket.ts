import type { Handler } from "hono";
import { admit } from "./admit.ts";
import type { Served } from "./middleware.ts";
import type { Endpoint } from "./endpoint.ts";
import { findRoom } from "./find-room.ts";
import { handoverRequest } from "./handover-request.ts";
import { respondText } from "./respond.ts";
import { chooseCodec } from "./websocket-codec.ts";

/** `GET …/websocket` and `…/uni_websocket`: hands the client's own socket over to an object. */
export function webSocket(endpoint: Endpoint, direction: "both_ways" | "one_way"): Handler<Served> {
  return async (context) => {
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const chosen = chooseCodec(context);
    if (chosen.outcome === "refused") return respondText(400, chosen.problem);
    const codec = direction === "one_way" ? direction : chosen.codec;
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const { claims } = admission;
    const handover = handoverRequest(context.req.raw, {
      v: 1,
      keepalive: context.req.query("keepalive") === "client" ? "client" : "server",
      ...(codec !== "json" && { codec }),
      ...(claims !== undefined && { claims }),
    });
    return findRoom(destination.pool, handover);
  };
}
