import type { Handler, Context } from "hono";
import { admit, checkClient } from "./admit.ts";
import type { AppEnv } from "./app-env.ts";
import type { AddressRate } from "./client-address.ts";
import { refusedStranger } from "./descriptor-use.ts";
import type { Endpoint } from "./endpoints.ts";
import { type ClientTransport, placeSocket, handoverRequest } from "./placement.ts";
import { busyRetrySeconds, respondBusy, respondText, respondTooLarge } from "./responses.ts";
import type { HookRefusal } from "../../src/config/config.ts";
import type { CodecName } from "../../src/protocol/codec.ts";
import { codecNamed } from "../../src/protocol/codecs.ts";
import { encodeHandover, type Handover } from "../../src/contract/handover.ts";
import { limits } from "../../src/limits.ts";
import { agreedProtocol } from "../platform/agreed-protocol.ts";
import { refusedSocket } from "./refused-socket.ts";

/**
 * `GET …/websocket` and `…/uni_websocket`: hands the client's own socket over to an object.
 *
 * @param withoutToken bounds the upgrades without a token, by the client's address, of all endpoints together
 */
export function webSocket(
  endpoint: Endpoint,
  direction: "bidirectional" | "unidirectional",
  withoutToken: AddressRate,
): Handler<AppEnv> {
  return async (context) => {
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const chosen = chooseCodec(context);
    if (chosen.outcome === "refused") return respondText(400, chosen.problem);
    const codec = direction === "unidirectional" ? "one_way" : chosen.codec;
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const { address } = admission;
    if (!withoutToken.admits(address, Date.now())) {
      context.set("refusal", { rule: "B25", reason: tooManyUpgrades });
      return respondBusy(busyRetrySeconds());
    }
    const client: ClientTransport = codec === "json" ? {} : { codec };
    const first = codec === "one_way" ? (context.req.query("cf_connect") ?? "") : "";
    const frame = first === "" ? undefined : { codec: codecNamed(codec), frame: first };
    const asked = await checkClient(context, admission, client, frame);
    if (asked.outcome === "answered") return asked.response;
    if (asked.outcome === "refused") return respondRefused(context, codec, asked.refusal);
    const stranger = await refusedStranger(context, asked, frame === undefined);
    if (stranger !== undefined) return stranger;
    const { claims, headers, traceparent, asked: atUpgrade } = asked;
    const handover: Handover = {
      v: 1,
      keepalive: context.req.query("keepalive") === "client" ? "client" : "server",
      ...client,
      ...(headers !== undefined && { headers }),
      ...(traceparent !== undefined && { traceparent }),
      ...(claims !== undefined && { claims }),
      ...(atUpgrade !== undefined && { asked: atUpgrade }),
      ...(address !== undefined && { address }),
      ...(first !== "" && { first }),
    };
    if (first !== "" && encodeHandover(handover).length > limits.hookHandoverLengthMax)
      return respondTooLarge();
    return placeSocket(destination.pool, handoverRequest(context.req.raw, handover), claims);
  };
}

/** Accepts the socket of a client that a backend has refused, to tell it so. */
export function respondRefused(
  context: Context<AppEnv>,
  codec: CodecName,
  refusal: HookRefusal,
): Response {
  const { staleCloseDelayMs } = context.get("configured").config.client;
  const socket = refusedSocket(codecNamed(codec), refusal, staleCloseDelayMs, "client");
  const headers = agreedProtocol(context.req.raw, codec);
  return new Response(null, { status: 101, webSocket: socket, headers });
}

const tooManyUpgrades = "the client's address opens connections without a token too fast";

/** The codec that a handshake asks for. `problem` is for the client. */
type WebSocketCodec =
  | { readonly outcome: "codec"; readonly codec: Exclude<CodecName, "one_way"> }
  | { readonly outcome: "refused"; readonly problem: string };

/**
 * Chooses the codec of a socket. Clients ask for one by subprotocol or by query, in the SDKs' two spellings; the query
 * has precedence (docs/protocol.md 1.1). Of several subprotocols JSON has precedence, as in Centrifugo.
 */
function chooseCodec(context: Context<AppEnv>): WebSocketCodec {
  // Objects can't send ping frames, so a client that relied on them would take a dead connection for a live one.
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

const unknownFormat = "unknown format: use json, protobuf or msgpack";
const noPingFrames =
  "cf_ws_frame_ping_pong is not supported, because a Durable Object can't send WebSocket ping frames: omit it to get " +
  "pings of the protocol, or send pings from the client with ?keepalive=client";
