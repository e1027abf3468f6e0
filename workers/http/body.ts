/** The reading of request bodies, within their limits (rule B2): bytes, UTF-8 text, and JSON or MessagePack. */
import type { MiddlewareHandler } from "hono";
import { messagePackToJson } from "../../src/api/messagepack.ts";
import { limits } from "../../src/limits.ts";
import { parseJsonText } from "../../src/protocol/json/text.ts";
import { utf8Text } from "../../src/protocol/bytes.ts";
import type { AppEnv } from "./app-env.ts";
import { respondMalformed, respondTooLarge } from "./respond.ts";
import { boundedBytes } from "../platform/bounded-bytes.ts";

type RequestBody =
  | { readonly outcome: "text"; readonly text: string }
  | { readonly outcome: "too-large" }
  | { readonly outcome: "malformed"; readonly detail: string };

/**
 * Reads a body that is JSON, or the same in MessagePack (rule W6), and leaves the JSON text to the handler as
 * `request`. Responds 400 if the body is malformed, and 413 if it is too large.
 */
export const jsonBody: MiddlewareHandler<AppEnv> = async (context, next) => {
  if (isMessagePack(context.req.raw)) {
    const bytes = await requestBytes(context.req.raw, limits.requestBytesMax);
    if (bytes === undefined) return respondTooLarge();
    const request = messagePackToJson(bytes);
    if (request === undefined) return respondMalformed("the body is not valid MessagePack");
    context.set("request", request);
    return next();
  }
  const body = await readBody(context.req.raw);
  if (body.outcome !== "text") return respondUnreadable(body);
  const request = parseJsonText(body.text);
  if (request === undefined) return respondMalformed("the body is not valid JSON");
  context.set("request", request);
  return next();
};

/** Reads a body of UTF-8 text of at most `limits.requestBytesMax` bytes. */
export async function readBody(request: Request): Promise<RequestBody> {
  const bytes = await requestBytes(request, limits.requestBytesMax);
  if (bytes === undefined) return tooLarge;
  const text = utf8Text(bytes);
  return text === undefined
    ? { outcome: "malformed", detail: "the body is not valid UTF-8" }
    : { outcome: "text", text };
}

/** The response to a body that is too large or malformed. */
export function respondUnreadable(
  body: Exclude<RequestBody, { readonly outcome: "text" }>,
): Response {
  return body.outcome === "too-large" ? respondTooLarge() : respondMalformed(body.detail);
}

const tooLarge: RequestBody = { outcome: "too-large" };

/** Both media types are in use. */
function isMessagePack(request: Request): boolean {
  return ["application/msgpack", "application/x-msgpack"].includes(mediaTypeOf(request));
}

/**
 * Reads a request body of at most so many bytes; undefined if it is longer. A body of a stated length is read in one
 * piece, which takes a fraction of the time. The stated length is checked, not trusted.
 */
export async function requestBytes(
  { body, headers }: Request,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const statedBytes = Number(headers.get("Content-Length"));
  if (statedBytes > bytesMax) return undefined;
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
function byteReader(body: Request["body"]): ReadableStreamBYOBReader | undefined {
  try {
    return body?.getReader({ mode: "byob" });
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
