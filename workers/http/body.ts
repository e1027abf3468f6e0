import type { MiddlewareHandler } from "hono";
import { messagePackToJson } from "../../src/api/messagepack.ts";
import { limits } from "../../src/limits.ts";
import { parseJsonText } from "../../src/protocol/json/text.ts";
import { utf8Text } from "../../src/protocol/bytes.ts";
import type { Served } from "./middleware.ts";
import { mediaTypeOf } from "./media-type.ts";
import { requestBytes } from "./request-bytes.ts";
import { respondMalformed, respondTooLarge } from "./respond.ts";

export type RequestBody =
  | { readonly outcome: "text"; readonly text: string }
  | { readonly outcome: "too-large" }
  | { readonly outcome: "malformed"; readonly detail: string };

/**
 * Reads a body that is one JSON text, or says the same in MessagePack, and leaves the text to the handler as `request`; 400
 * or 413 when it is neither.
 */
export const jsonBody: MiddlewareHandler<Served> = async (context, next) => {
  if (isMessagePack(context.req.raw)) {
    const bytes = await requestBytes(context.req.raw, limits.requestBytesMax);
    if (bytes === undefined) return respondTooLarge();
    const request = messagePackToJson(bytes);
    if (request === undefined) return respondMalformed("the body is not valid MessagePack");
    context.set("request", request);
    return next();
  }
  const body = await readBody(context.req.raw);
  if (body.outcome !== "text") return respondUnread(body);
  const request = parseJsonText(body.text);
  if (request === undefined) return respondMalformed("the body is not valid JSON");
  context.set("request", request);
  return next();
};

/** Reads a body of UTF-8 text, at most `limits.requestBytesMax` bytes of it. */
export async function readBody(request: Request): Promise<RequestBody> {
  const bytes = await requestBytes(request, limits.requestBytesMax);
  if (bytes === undefined) return tooLarge;
  const text = utf8Text(bytes);
  return text === undefined
    ? { outcome: "malformed", detail: "the body is not valid UTF-8" }
    : { outcome: "text", text };
}

/** The response to a body that could not be read. */
export function respondUnread(body: Exclude<RequestBody, { readonly outcome: "text" }>): Response {
  return body.outcome === "too-large" ? respondTooLarge() : respondMalformed(body.detail);
}

const tooLarge: RequestBody = { outcome: "too-large" };

/** Both names are in use. */
function isMessagePack(request: Request): boolean {
  return ["application/msgpack", "application/x-msgpack"].includes(mediaTypeOf(request));
}
