import type { Context } from "hono";
import { originAllowed } from "../../src/access/origin.ts";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import { limits } from "../../src/limits.ts";
import { overloadedRetrySeconds, parseCallFailure } from "../platform/call-failure.ts";
import { type Handover, encodeHandover, handoverHeader } from "../platform/handover.ts";
import type { Served } from "./configure.ts";
import { inTime } from "./in-time.ts";
import { respondBusy, respondMalformed, respondText } from "./respond.ts";
import { checkUpgradeToken } from "./upgrade-token.ts";

/**
 * `GET /channel/<name>/websocket`: hands a socket over to the object of one channel. A malformed request, a name that no
 * channel can have, a foreign origin and a bad token are refused here, before any object is touched. A namespace that
 * isn't configured is not: its object answers subscribe with 102, on which clients give up, whereas they would repeat a
 * failed handshake for ever (rule C6).
 */
export async function upgrade(context: Context<Served>): Promise<Response> {
  const request = context.req.raw;
  const { client, channel: channelConfig } = context.var.configured.config;
  if (!isUpgrade(request)) {
    return respondText(426, "Upgrade Required", { Upgrade: "websocket", Connection: "Upgrade" });
  }
  const channel = channelOf(request);
  if (channel === undefined) return respondMalformed("the path has a malformed channel name");
  const resolved = resolveChannel(channel, channelConfig);
  if (resolved.outcome === "bad-name") return respondMalformed(resolved.reason);
  if (!originAllowed(request.headers.get("Origin"), client.allowedOrigins)) {
    return respondText(403, "Forbidden");
  }
  if (asksForProtobuf(context)) {
    return respondText(400, "Protobuf is not supported yet: connect with the JSON protocol");
  }
  const token = await checkUpgradeToken(context);
  if (token.outcome === "refused") return respondText(401, token.problem);
  const handover: Handover = {
    v: 1,
    keepalive: context.req.query("keepalive") === "client" ? "client" : "server",
    ...(token.outcome === "verified" && { claims: token.claims }),
  };
  try {
    const object = context.env.CHANNELS.getByName(channel);
    const answer = object.fetch(handoverRequest(request, handover));
    const response = await inTime<Response | undefined>(answer, limits.objectAnswerMs, undefined);
    return response ?? respondBusy(overloadedRetrySeconds);
  } catch (error) {
    const failure = parseCallFailure(error);
    if (failure.overloaded) return respondBusy(overloadedRetrySeconds);
    console.error(`upgrade failed: ${failure.summary}`);
    return respondText(500, "Internal Server Error");
  }
}

/** A HEAD request gets here as well. */
function isUpgrade(request: Request): boolean {
  return request.method === "GET" && request.headers.get("Upgrade")?.toLowerCase() === "websocket";
}

/** The router's own decoding lets malformed escapes pass, so the name is taken from the URL. */
function channelOf(request: Request): string | undefined {
  const [, , encoded = ""] = new URL(request.url).pathname.split("/");
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // Its only error says that the escapes are malformed.
  }
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

/**
 * The request that the object sees, built from scratch: the handshake's headers and our own one. So a client can't
 * forge what the edge decided, and neither its token nor its cookies travel further.
 */
function handoverRequest(request: Request, handover: Handover): Request {
  const headers = new Headers({ [handoverHeader]: encodeHandover(handover) });
  for (const [name, value] of request.headers) {
    if (isHandshakeHeader(name.toLowerCase())) headers.set(name, value);
  }
  return new Request("https://channel/websocket", { headers });
}

function isHandshakeHeader(name: string): boolean {
  return name === "upgrade" || name === "connection" || name.startsWith("sec-websocket-");
}
