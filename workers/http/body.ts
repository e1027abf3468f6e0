/** The reading of request bodies, within their limits (rules B2 and B20): bytes, UTF-8 text, and JSON or MessagePack. */
import type { MiddlewareHandler } from "hono";
import { messagePackToJson } from "../../src/api/messagepack.ts";
import { limits } from "../../src/limits.ts";
import { parseJsonText } from "../../src/protocol/json/text.ts";
import { utf8Text } from "../../src/protocol/bytes.ts";
import type { AppEnv } from "./app-env.ts";
import {
  respondCompressed,
  respondMalformed,
  respondTooLarge,
  respondTooSlow,
} from "./responses.ts";
import { boundedBytes } from "../platform/bounded-bytes.ts";

/**
 * Reads a body that is JSON, or the same in MessagePack (rule W6), and leaves the JSON text to the handler as
 * `request`. Responds 400 if the body is malformed, and otherwise as {@link requestBytes}.
 */
export const jsonBody: MiddlewareHandler<AppEnv> = async (context, next) => {
  if (isMessagePack(context.req.raw)) {
    const bytes = await requestBytes(context.req.raw, limits.requestBytesMax);
    if (bytes instanceof Response) return bytes;
    const request = messagePackToJson(bytes);
    if (request === undefined) return respondMalformed("the body is not valid MessagePack");
    context.set("request", request);
    return next();
  }
  const text = await readBody(context.req.raw);
  if (text instanceof Response) return text;
  const request = parseJsonText(text);
  if (request === undefined) return respondMalformed("the body is not valid JSON");
  context.set("request", request);
  return next();
};

/** Reads a body of UTF-8 text of at most `limits.requestBytesMax` bytes, or refuses it. */
export async function readBody(request: Request): Promise<string | Response> {
  const bytes = await requestBytes(request, limits.requestBytesMax);
  if (bytes instanceof Response) return bytes;
  return utf8Text(bytes) ?? respondMalformed("the body is not valid UTF-8");
}

/** Both media types are in use. */
function isMessagePack(request: Request): boolean {
  return ["application/msgpack", "application/x-msgpack"].includes(mediaTypeOf(request));
}

/**
 * Reads the body of a request that may come from anybody: as {@link requestBytes}, but while this isolate reads more than
 * `limits.openBodiesMax` of them, those that have taken longest are cut (rule B20). So bodies that don't end hold back no
 * others, which end at once.
 */
export function anybodysBytes(request: Request, bytesMax: number): Promise<Uint8Array | Response> {
  return requestBytes(request, bytesMax, (cut) => {
    const nowMs = Date.now();
    openBodies.set(cut, nowMs);
    for (const [oldest, openedAtMs] of openBodies) {
      const isEarly = nowMs - openedAtMs < limits.openBodyMs;
      if (isEarly || openBodies.size <= limits.openBodiesMax) break;
      openBodies.delete(oldest); // Its own request goes on later.
      oldest();
    }
    return () => void openBodies.delete(cut);
  });
}

/** The bodies that may come from anybody and are being read, oldest first: what cuts each, and since when, ms since 1970. */
const openBodies = new Map<() => void, number>();

/**
 * Reads a request body of at most so many bytes. It is refused with 415 if it is compressed (rule W15), with 413 if it is
 * longer, and with 408 if it hasn't ended after `limits.bodyMs` (rule B20).
 *
 * @param opened takes what cuts the body, and gives what to call at its end
 */
async function requestBytes(
  { body, headers }: Request,
  bytesMax: number,
  opened?: (cut: () => void) => () => void,
): Promise<Uint8Array | Response> {
  if (!/^(identity)?$/i.test(headers.get("Content-Encoding") ?? "")) return respondCompressed();
  const statedBytes = Number(headers.get("Content-Length"));
  if (statedBytes > bytesMax) return respondTooLarge();
  if (body === null) return new Uint8Array();
  const { promise: isLate, resolve: cut } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => cut("late"), limits.bodyMs);
  const ended = opened?.(() => cut("late"));
  try {
    const read = await Promise.race([readBytes(body, statedBytes, bytesMax), isLate]);
    return read === "late" ? respondTooSlow() : (read ?? respondTooLarge());
  } finally {
    clearTimeout(timer);
    ended?.();
  }
}

/** Reads a body; undefined if it is too long. A body of a stated length is read in one piece, in a fraction of the time. */
function readBytes(
  body: NonNullable<Request["body"]>,
  statedBytes: number,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  // The stated length is checked, not trusted.
  const reader = statedBytes > 0 ? byteReader(body) : undefined;
  return reader === undefined ? boundedBytes(body, bytesMax) : readStated(reader, statedBytes);
}

/** Reads a body of a stated length; undefined if it is longer. */
async function readStated(
  reader: ReadableStreamBYOBReader,
  statedBytes: number,
): Promise<Uint8Array | undefined> {
  // There is room for one more byte, which is filled only if the body is longer than stated.
  const { value } = await reader.readAtLeast(statedBytes, new Uint8Array(statedBytes + 1));
  if (value === undefined || value.byteLength <= statedBytes) return value ?? new Uint8Array();
  await reader.cancel();
  return undefined;
}

/** A body from the network has a byte reader; a body that another Worker creates may not have one. */
function byteReader(body: NonNullable<Request["body"]>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}

/** The media type of a request: in lower case and without parameters; "" if there is none. */
export function mediaTypeOf({ headers }: Request): string {
  const [type = ""] = (headers.get("Content-Type") ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

/** The media type of the protocol's binary bodies, which are Protobuf (docs/protocol.md 4.2 and 4.3). */
export const binaryType = "application/octet-stream";
