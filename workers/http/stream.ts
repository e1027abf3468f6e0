import type { Handler, Context } from "hono";
import { codecNamed } from "../../src/protocol/codecs.ts";
import { eventFormat, responseFormat } from "../../src/transport/stream.ts";
import { admit, checkClient } from "./admit.ts";
import { ClientStream } from "./client-stream.ts";
import type { AppEnv } from "./app-env.ts";
import { refusedStranger } from "./descriptor-use.ts";
import type { Endpoint } from "./endpoints.ts";
import { emulatedTransport, openSocket, refusingSocket } from "./placement.ts";
import { refusedSocket } from "./refused-socket.ts";
import { respondStream, respondMalformed, respondTooLarge } from "./responses.ts";
import { limits } from "../../src/limits.ts";
import type { CodecName } from "../../src/protocol/codec.ts";
import { utf8Length, utf8Text } from "../../src/protocol/bytes.ts";
import { anybodysBytes, binaryType, mediaTypeOf } from "./body.ts";

/**
 * `…/sse`, `…/http_stream` and their `uni_` variants: the client reads the response, and a bidirectional client posts
 * its frames to `/emulation`.
 */
export function stream(endpoint: Endpoint, kind: StreamKind): Handler<AppEnv> {
  return async (context) => {
    const startedAtMs = Date.now();
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const first = await readFirstFrame(context, kind);
    if (first.outcome === "refused") return first.response;
    const codec = codecNamed(first.codec);
    // Any page can make its visitor's browser send a GET, with all cookies (rule A22).
    if (context.req.method === "GET" && codec.decodeFrame(first.frame).commands.length > 1)
      return respondMalformed("cf_connect has more than a connect command: use POST");
    const reads = kind.events ? "events" : "stream";
    const transport = emulatedTransport(first.codec, reads);
    const checked = await checkClient(context, admission, transport, {
      codec,
      frame: first.frame,
    });
    if (checked.outcome === "answered") return checked.response;
    const stranger =
      checked.outcome === "admitted" ? await refusedStranger(context, checked) : undefined;
    if (stranger !== undefined) return stranger;
    const { client } = context.get("configured").config;
    const opened =
      checked.outcome === "admitted"
        ? await openSocket(destination.pool, first.codec, checked, reads)
        : refusingSocket(refusedSocket(codec, checked.refusal, client.staleCloseDelayMs, "stream"));
    if (opened.outcome === "refused") return opened.response;
    const format = kind.events ? eventFormat : responseFormat(first.codec);
    const { readable } = new ClientStream({
      socket: opened.socket,
      keepalive: opened.keepalive,
      first: first.frame,
      codec,
      format,
      pingIntervalMs: client.pingIntervalMs,
      probeIntervalMs: Number(context.env.STREAM_PROBE_MS ?? 0),
      queueMaxBytes: client.queueMaxSizeBytes,
      startedAtMs,
    });
    return respondStream(readable, format.contentType);
  };
}

/** The first frame, which comes with the request for a stream, and its codec. */
type FirstFrame =
  | { readonly outcome: "frame"; readonly frame: string | Uint8Array; readonly codec: CodecName }
  | { readonly outcome: "refused"; readonly response: Response };

/** The differences between the transports that are streams. */
export interface StreamKind {
  /** A unidirectional client's first frame is a ConnectRequest, and may be absent (rule T8, docs/protocol.md 4.5). */
  readonly unidirectional: boolean;
  /** Server-sent events are text, and can be requested with GET. */
  readonly events: boolean;
}

/** Reads the first frame from `cf_connect` or the body (docs/protocol.md 4.1, 4.2, 4.5). */
async function readFirstFrame(
  context: Context<AppEnv>,
  { unidirectional, events }: StreamKind,
): Promise<FirstFrame> {
  const codec = unidirectional ? "one_way" : "json";
  const request = context.req.raw;
  if (request.method === "GET") {
    const frame = context.req.query("cf_connect") || (unidirectional ? "{}" : "");
    if (utf8Length(frame) > limits.frameBytesMax) return refused(respondTooLarge());
    if (frame === "") return refused(respondMalformed("cf_connect is missing"));
    return { outcome: "frame", frame, codec };
  }
  const posted = await anybodysBytes(request, limits.frameBytesMax);
  if (posted instanceof Response) return refused(posted);
  if (posted.byteLength === 0) {
    if (unidirectional) return { outcome: "frame", frame: "{}", codec };
    return refused(
      respondMalformed("the body is empty: it must be a frame with a connect command"),
    );
  }
  if (!unidirectional && !events && mediaTypeOf(request) === binaryType) {
    return { outcome: "frame", frame: posted, codec: "protobuf" };
  }
  const frame = utf8Text(posted);
  if (frame === undefined) return refused(respondMalformed("the body is not valid UTF-8"));
  return { outcome: "frame", frame, codec };
}

function refused(response: Response): FirstFrame {
  return { outcome: "refused", response };
}
