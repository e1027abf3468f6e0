import type { Handler } from "hono";
import { codecNamed } from "../../src/protocol/codecs.ts";
import { eventFormat, responseFormat } from "../../src/transport/stream.ts";
import { admit } from "./admit.ts";
import { ClientStream } from "./client-stream.ts";
import type { Served } from "./middleware.ts";
import type { Endpoint } from "./endpoint.ts";
import { readFirstFrame, type StreamKind } from "./first-frame.ts";
import { openSocket } from "./place.ts";
import { respondStream } from "./respond.ts";

/** `…/sse`, `…/http_stream` and their one-way likes: the client listens to the response, and posts what it has to say. */
export function stream(endpoint: Endpoint, kind: StreamKind): Handler<Served> {
  return async (context) => {
    const startedAtMs = Date.now();
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const admission = await admit(context);
    if (admission.outcome === "refused") return admission.response;
    const first = await readFirstFrame(context, kind);
    if (first.outcome === "refused") return first.response;
    const opened = await openSocket(destination.pool, first.codec, admission.claims);
    if (opened.outcome === "refused") return opened.response;
    const format = kind.events ? eventFormat : responseFormat(first.codec);
    const { client } = context.var.configured.config;
    const { readable } = new ClientStream({
      socket: opened.socket,
      first: first.frame,
      codec: codecNamed(first.codec),
      format,
      pingIntervalMs: client.pingIntervalMs,
      probeIntervalMs: Number(context.env.STREAM_PROBE_MS ?? "0") || 0,
      queueMaxBytes: client.queueMaxSizeBytes,
      startedAtMs,
    });
    return respondStream(readable, format.contentType);
  };
}
