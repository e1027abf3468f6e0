import type { Handler, Context } from "hono";
import { admit } from "./admit.ts";
import type { AppEnv } from "./middleware.ts";
import type { Endpoint } from "./endpoints.ts";
import { placeSocket, handoverRequest } from "./placement.ts";
import { respondText } from "./respond.ts";
import type { CodecName } from "../../src/protocol/codec.ts";

/** `GET …/websocket` and `…/uni_websocket`: hands the client's own socket over to an object. */
export function webSocket(
  endpoint: Endpoint,
  direction: "bidirectional" | "unidirectional",
): Handler<AppEnv> {
  return async (context) => {
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const chosen = chooseCodec(context);
    if (chosen.outcome === "refused") return respondText(400, chosen.problem);
    const codec = direction === "unidirectional" ? "one_way" : chosen.codec;
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const { claims } = admission;
    const handover = handoverRequest(context.req.raw, {
      v: 1,
      keepalive: context.req.query("keepalive") === "client" ? "client" : "server",
      ...(codec !== "json" && { codec }),
      ...(claims !== undefined && { claims }),
    });
    return placeSocket(destination.pool, handover);
  };
}

/** What a handshake asks the frames to be. `problem` is what the client is told. */
type WebSocketCodec =
  | { readonly outcome: "codec"; readonly codec: Exclude<CodecName, "one_way"> }
  | { readonly outcome: "refused"; readonly problem: string };

/**
 * Clients ask by subprotocol or, in the SDKs' two spellings, by query, which then counts (docs/protocol.md 1.1). Of several
 * subprotocols JSON comes first, as in Centrifugo.
 */
function chooseCodec(context: Context<AppEnv>): WebSocketCodec {
  // Objects can neither send a ping frame nor be told to: the client would take its dead connection for a good one.
  if (context.req.query("cf_ws_frame_ping_pong") === "true") {
    return { outcome: "refused", problem: noPingFrames };
  }
  const query = context.req.query("format") || context.req.query("cf_protocol") || undefined;
  if (query !== undefined) {
    const named = codecs.find((codec) => codec === query);
    return named === undefined
      ? { outcome: "refused", problem: unknownFormat }
      : { outcome: "codec", codec: named };
  }
  const header = context.req.header("Sec-WebSocket-Protocol") ?? "";
  const offered = new Set(header.split(",").map((protocol) => protocol.trim()));
  return {
    outcome: "codec",
    codec: codecs.find((codec) => offered.has(`centrifuge-${codec}`)) ?? "json",
  };
}

const codecs = ["json", "protobuf", "msgpack"] as const;

const unknownFormat = "unknown format: json, protobuf or msgpack";
const noPingFrames =
  "cf_ws_frame_ping_pong is not available, because a Durable Object can't send WebSocket ping frames: leave it out for " +
  "pings of the protocol, or ping the server yourself with ?keepalive=client";
