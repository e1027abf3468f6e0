import type { Context } from "hono";
import { originAllowed } from "../../src/access/origin.ts";
import type { Served } from "./configure.ts";
import { handoverRequest } from "./handover-request.ts";
import { busyRetrySeconds, respondBusy, respondText } from "./respond.ts";
import { checkUpgradeToken } from "./upgrade-token.ts";

/** Whether a client may have a socket. */
export type Admission =
  /** With the request that the object will see. */
  | { readonly outcome: "admitted"; readonly handover: Request }
  | { readonly outcome: "refused"; readonly response: Response };

/** Refuses a foreign origin, a codec we don't speak and a bad token, before any object is touched (rules A3 and A6). */
export async function admit(context: Context<Served>): Promise<Admission> {
  const { client } = context.var.configured.config;
  if (!originAllowed(context.req.raw.headers.get("Origin"), client.allowedOrigins)) {
    return refused(respondText(403, "Forbidden"));
  }
  if (asksForProtobuf(context)) {
    return refused(respondText(400, protobufProblem));
  }
  const token = await checkUpgradeToken(context);
  switch (token.outcome) {
    case "refused":
      return refused(respondText(401, token.problem));
    case "unavailable":
      return refused(respondBusy(busyRetrySeconds()));
    case "absent":
    case "verified":
      break;
  }
  const handover = handoverRequest(context.req.raw, {
    v: 1,
    keepalive: context.req.query("keepalive") === "client" ? "client" : "server",
    ...(token.outcome === "verified" && { claims: token.claims }),
  });
  return { outcome: "admitted", handover };
}

/** Clients ask by subprotocol or, in the SDKs' two spellings, by query. */
function asksForProtobuf(context: Context<Served>): boolean {
  const header = context.req.header("Sec-WebSocket-Protocol") ?? "";
  const protocols = new Set(header.split(",").map((protocol) => protocol.trim()));
  return (
    (protocols.has("centrifuge-protobuf") && !protocols.has("centrifuge-json")) ||
    context.req.query("format") === "protobuf" ||
    context.req.query("cf_protocol") === "protobuf"
  );
}

function refused(response: Response): Admission {
  return { outcome: "refused", response };
}

const protobufProblem = "Protobuf is not supported yet: connect with the JSON protocol";
