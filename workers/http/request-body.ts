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
 * Reads a body of UTF-8 text, at most `limits.requestBytesMax` bytes of it. The stated length spares us a large body;
 * it is not relied on.
 */
export async function readBody(request: Request): Promise<RequestBody> {
  if (Number(request.headers.get("Content-Length")) > limits.requestBytesMax) return tooLarge;
  const chunks = await readChunks(request, limits.requestBytesMax);
  if (chunks === undefined) return tooLarge;
  try {
    // A byte order mark is kept, so that it is refused: JSON has none.
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
    return { outcome: "text", text: text + decoder.decode() };
  } catch {
    return { outcome: "malformed", detail: "the body is not valid UTF-8" };
  }
}

/** The response to a body that could not be read. */
export function respondUnread(body: Exclude<RequestBody, { readonly outcome: "text" }>): Response {
  return body.outcome === "too-large" ? respondTooLarge() : respondMalformed(body.detail);
}

const tooLarge: RequestBody = { outcome: "too-large" };

/** The body's bytes; undefined as soon as there are more than allowed. */
async function readChunks(
  request: Request,
  bytesMax: number,
): Promise<readonly Uint8Array[] | undefined> {
  if (request.body === null) return [];
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
