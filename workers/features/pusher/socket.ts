import type { Context, Handler } from "hono";
import { gatewayName } from "../../../src/contract/object-names.ts";
import type { Handover } from "../../../src/contract/handover.ts";
import type { ConnectionClaims } from "../../../src/access/claims.ts";
import { offsetsEnd, type PusherApp } from "../../../src/features/pusher/config.ts";
import { connectFrame, errorFrame } from "../../../src/features/pusher/codec.ts";
import { dialectName } from "../../../src/features/pusher/names.ts";
import { Pools } from "../../../src/gateway/pool.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { admit } from "../../http/admit.ts";
import type { AddressRate } from "../../http/client-address.ts";
import { refusedStranger } from "../../http/descriptor-use.ts";
import { handoverRequest, placeSocket, type Pool } from "../../http/placement.ts";
import { busyRetrySeconds, respondBusy } from "../../http/responses.ts";
import { parseRegion } from "../../platform/region.ts";

/** `GET /app/KEY`: a client of the application, on a gateway of the protocol's own (rule PU1). */
export function pusherSocket(withoutToken: AddressRate): Handler<AppEnv> {
  const pools = new Pools();
  return (context) => handOver(context, pools, withoutToken);
}

async function handOver(
  context: Context<AppEnv>,
  pools: Pools,
  withoutToken: AddressRate,
): Promise<Response> {
  const { req } = context;
  const { config } = context.get("configured");
  const given = req.param("key") ?? "";
  const end = given.endsWith(offsetsEnd) ? offsetsEnd : "";
  const app = config.pusher?.apps.find(({ key }) => `${key}${end}` === given);
  const protocol = req.query("protocol");
  if (app === undefined) return refusing(context, 4001, "Application does not exist");
  if (protocol === undefined) return refusing(context, 4008, "No protocol version supplied");
  if (!/^\d+$/.test(protocol)) return refusing(context, 4006, "Invalid version string format");
  if (!["5", "6", "7"].includes(protocol))
    return refusing(context, 4007, "Unsupported protocol version");
  const admission = await admit(context);
  if (admission.outcome === "refused")
    return admission.response.status === 403
      ? refusing(context, 4009, "Origin not allowed")
      : admission.response;
  const { address, traceparent } = admission;
  if (!withoutToken.admits(address, Date.now())) {
    const reason = "the client's address opens connections too fast";
    context.set("refusal", { rule: "B25", reason });
    return respondBusy(busyRetrySeconds());
  }
  const stranger = await refusedStranger(context, admission);
  if (stranger !== undefined) return stranger;
  const handover: Handover = {
    v: 1,
    keepalive: "client",
    dialect: `${app.id}${end}`,
    first: connectFrame(req.query("client") ?? "", req.query("version") ?? ""),
    ...(address !== undefined && { address }),
    ...(traceparent !== undefined && { traceparent }),
  };
  return placeSocket(poolOf(context, pools), handoverRequest(req.raw, handover), undefined);
}

/** The gateways for clients of the protocol, in the region of a request. */
function poolOf({ req, env }: Context<AppEnv>, pools: Pools): Pool {
  const { name: region, locationHint } = parseRegion(req.raw.cf?.["continent"]);
  const options = locationHint === undefined ? {} : { locationHint };
  const objectAt = (index: number) => {
    const name = gatewayName({ kind: "pool", region, index, dialect: dialectName });
    return { object: env.GATEWAYS.getByName(name, options), avoidWhenBroken: true };
  };
  return { pools, name: region, objectAt };
}

/** Opens the socket of an operator who looks on as a client of an application (rule N32). */
export function placeOnlooker(
  context: Context<AppEnv>,
  app: PusherApp,
  claims: ConnectionClaims,
): Promise<Response> {
  const first = connectFrame("dormouse-console", "");
  const kept = { v: 1, keepalive: "client", dialect: app.id, first, onlooker: claims } as const;
  onlookersPools ??= new Pools();
  const pool = poolOf(context, onlookersPools);
  return placeSocket(pool, handoverRequest(context.req.raw, kept), claims);
}

/** Made when the first operator looks on. */
let onlookersPools: Pools | undefined;

/** Accepts the socket of a client, to tell it why it is refused. */
function refusing(context: Context<AppEnv>, code: number, message: string): Response {
  context.set("refusal", { refused: "pusher", rule: "PU1", reason: message, code });
  const { 0: client, 1: edge } = new WebSocketPair();
  edge.accept();
  edge.send(errorFrame(code, message));
  edge.close(code, message);
  return new Response(null, { status: 101, webSocket: client });
}
