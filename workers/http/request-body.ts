import type { MiddlewareHandler } from "hono";
import { messagePackToJson } from "../../src/api/messagepack-body.ts";
import { limits } from "../../src/limits.ts";
import { parseJsonText } from "../../src/protocol/json-text.ts";
import type { Served } from "./configure.ts";
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
  if (isMessagePack(context.req.header("Content-Type"))) {
    const bytes = await readBytes(context.req.raw);
    if (bytes === undefined) return respondTooLarge();
    const request = messagePackToJson(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
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
  const bytes = await readBytes(request);
  if (bytes === undefined) return tooLarge;
  try {
    // A byte order mark is kept, so that it is refused: JSON has none.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { outcome: "text", text };
  } catch {
    return { outcome: "malformed", detail: "the body is not valid UTF-8" };
  }
}

/** The response to a body that could not be read. */
export function respondUnread(body: Exclude<RequestBody, { readonly outcome: "text" }>): Response {
  return body.outcome === "too-large" ? respondTooLarge() : respondMalformed(body.detail);
}

const tooLarge: RequestBody = { outcome: "too-large" };

/** Both names are in use. */
function isMessagePack(contentType = ""): boolean {
  const [type = ""] = contentType.split(";", 1);
  return ["application/msgpack", "application/x-msgpack"].includes(type.trim().toLowerCase());
}

/**
 * A body of at most `limits.requestBytesMax` bytes; undefined when it is longer. One of a stated length is read in one piece,
 * which takes a fraction of the time; the stated length is not relied on.
 */
async function readBytes(request: Request): Promise<BodyBytes | undefined> {
  const statedBytes = Number(request.headers.get("Content-Length"));
  if (statedBytes > limits.requestBytesMax) return undefined;
  return statedBytes > 0 ? readStated(request, statedBytes) : readPieces(request);
}

/** A body of so many bytes; undefined when it turns out to be longer. */
async function readStated(request: Request, statedBytes: number): Promise<BodyBytes | undefined> {
  const reader = byteReader(request.body);
  if (reader === undefined) return readPieces(request);
  // There is room for one more byte, which an honest body doesn't have.
  const { value } = await reader.readAtLeast(statedBytes, new Uint8Array(statedBytes + 1));
  if (value === undefined || value.byteLength <= statedBytes) return value ?? new Uint8Array();
  await reader.cancel();
  return undefined;
}

/** Bodies that came over the network have one; those that another Worker makes need not. */
function byteReader(body: Request["body"]): ReadableStreamBYOBReader | undefined {
  try {
    return body?.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}

/** A body of any length; undefined as soon as it is more than allowed. */
async function readPieces(request: Request): Promise<BodyBytes | undefined> {
  if (request.body === null) return new Uint8Array();
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces).arrayBuffer();
    bytes += value.byteLength;
    if (bytes > limits.requestBytesMax) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(value);
  }
}

type BodyBytes = Uint8Array | ArrayBuffer;
