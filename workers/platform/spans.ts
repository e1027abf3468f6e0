import { tracing } from "cloudflare:workers";

/**
 * Does work in a span of the platform's tracing (rule X2). It is called only for work of a known trace: a span costs
 * about 10 µs, also where the platform traces nothing.
 *
 * @param name       of the span: the method or the hook, as docs/protocol.md names it
 * @param attributes of the span; `traceparent` is the trace of the backend or the client, because the platform's own
 *                   trace doesn't continue it
 */
export function inSpan<Result>(
  name: string,
  attributes: SpanAttributes,
  work: () => Result,
): Result {
  return tracing.enterSpan(name, (span) => {
    if (span.isTraced) span.setAttributes({ ...attributes });
    return work();
  });
}

interface SpanAttributes {
  readonly traceparent: string;
  readonly channel?: string;
  readonly target?: string;
}
