import type { Context } from "hono";
import { resolveChannel } from "../../src/channel/channel-name.ts";
import type { ChannelConfig } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import {
  decodeEmulation,
  type EmulationRequest,
  parseEmulationRequest,
} from "../../src/transport/emulation.ts";
import { utf8Length, utf8Text } from "../../src/protocol/bytes.ts";
import { overloadedRetrySeconds, parseCallFailure, inTime } from "../platform/object-call.ts";
import type { Env } from "../platform/env.ts";
import {
  type GatewayAddress,
  parseGatewayName,
  parseNodeName,
} from "../../src/contract/object-names.ts";
import { isRegion } from "../platform/region.ts";
import type { AppEnv } from "./app-env.ts";
import { anybodysBytes, binaryType, mediaTypeOf } from "./body.ts";
import {
  respondBusy,
  respondInternalError,
  respondMalformed,
  respondNotFound,
  respondNoContent,
  respondTooLarge,
} from "./responses.ts";

/**
 * `POST /emulation`: a client on an HTTP stream sends a frame to its session (docs/protocol.md 4.3). The frame goes to
 * the object that the connect reply named, if the session proves that it did (rule A23). Only that object knows the
 * session, and the response doesn't reveal whether the session exists (rule T4).
 */
export async function emulation(context: Context<AppEnv>): Promise<Response> {
  const request = context.req.raw;
  const body = await anybodysBytes(request, limits.emulationBytesMax);
  if (body instanceof Response) return body;
  const isBinary = mediaTypeOf(request) === binaryType;
  const posted = isBinary ? decodeEmulation(body) : parseEmulationRequest(utf8Text(body) ?? "");
  if (posted === undefined) return respondMalformed("malformed emulation request");
  if (frameLength(posted) > limits.frameBytesMax) return respondTooLarge();
  const { config, sessions } = context.get("configured");
  const object = objectOf(posted.node, context.env, config.channel);
  if (object === undefined) return respondNotFound();
  if (!(await sessions.made(posted.session, posted.node))) {
    context.set("refusal", { rule: "A23", reason: "no object has given this session to a client" });
    return respondNoContent();
  }
  try {
    const call = object.post(posted.session, posted.data).then(() => true);
    const accepted = await inTime(call, limits.objectAnswerMs, false);
    return accepted ? respondNoContent() : respondBusy(overloadedRetrySeconds);
  } catch (error) {
    const failure = parseCallFailure(error, object);
    if (failure.overloaded) return respondBusy(overloadedRetrySeconds);
    console.error(`emulation request failed: ${failure.summary}`);
    return respondInternalError();
  }
}

function frameLength({ data }: EmulationRequest): number {
  return typeof data === "string" ? utf8Length(data) : data.byteLength;
}

/**
 * The object of a node; undefined for a node that the edge would never give to a client. Naming an object creates it,
 * so a client must have proved a session or a key of the API before its node is used here.
 */
export function objectOf(node: string, { CHANNELS, GATEWAYS }: Env, channels: ChannelConfig) {
  const parsed = parseNodeName(node);
  if (parsed === undefined) return undefined;
  if (parsed.kind === "channel") {
    return isChannel(parsed.name, channels) ? CHANNELS.getByName(parsed.name) : undefined;
  }
  const gateway = gatewayNamed(parsed.name);
  const exists =
    gateway?.kind === "pool"
      ? isRegion(gateway.region) && gateway.index < limits.poolObjectsMax
      : gateway !== undefined &&
        isChannel(gateway.channel, channels) &&
        gateway.index < limits.relayGatewaysMax;
  return exists ? GATEWAYS.getByName(parsed.name) : undefined;
}

function isChannel(name: string, config: ChannelConfig): boolean {
  return resolveChannel(name, config).outcome === "resolved";
}

function gatewayNamed(name: string): GatewayAddress | undefined {
  try {
    return parseGatewayName(name);
  } catch {
    return undefined; // It throws for names that no gateway has.
  }
}
