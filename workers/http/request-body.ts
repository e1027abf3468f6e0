import type { MiddlewareHandler } from "hono";
import { limits } from "../../src/limits.ts";
import { parseJsonText } from "../../src/protocol/json-text.ts";
import type { Served } from "./configure.ts";
import { respondMalformed, respondTooLarge } from "./respond.ts";

export type RequestBody =
  | { readonly outcome: "text"; readonly text: string }
  | { readonly outcome: "too-large" }
  | { readonly outcome: "malformed"; readonly detail: string };

/** Reads a body that is one JSON text, and leaves it to the handler as `request`; 400 or 413 when it is none. */
export const jsonBody: MiddlewareHandler<Served> = async (context, next) => {
  const body = await readBody(context.req.raw);
  if (body.outcome !== "text") return respondUnread(body);
  const request = parseJsonText(body.text);
  if (request === undefined) return respondMalformed("the body is not valid JSON");
  context.set("request", request);
  return next();
};

/**
 * Reads a body of UTF-8 text, at most `limits.requestBytesMax` bytes of it. One of a stated length is read in one piece, which
 * takes a fraction of the time; the stated length is not relied on.
 */
export async function readBody(request: Request): Promise<RequestBody> {
  const statedBytes = Number(request.headers.get("Content-Length"));
  if (statedBytes > limits.requestBytesMax) return tooLarge;
  const bytes =
    statedBytes > 0 ? await readStated(request, statedBytes) : await readPieces(request);
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
