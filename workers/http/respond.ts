import {
  type ApiAnswer,
  encodeAnswer,
  encodeError,
  headerDetail,
  type CallOutcome,
  outcomeAnswer,
  overloadedAnswer,
  type Retry,
  retrySecondsOf,
  errorStatus,
} from "../../src/api/answers.ts";
import type { AppEnv } from "./middleware.ts";
import type { Context } from "hono";

// Every response of the edge is made here, and its status chosen here.

/** How errors are told: "" in a body with status 200, "transport" by the status. */
export type ErrorMode = "" | "transport";

/** The mode that a request asks for, or else the configured one (docs/protocol.md 6.1). */
export function errorModeOf(context: Context<AppEnv>): ErrorMode {
  return context.req.header("X-Centrifugo-Error-Mode") === "transport"
    ? "transport"
    : context.var.configured.config.httpApi.errorMode;
}

/** The answer to a command that stands alone in its request. */
export function respondCall(outcome: CallOutcome, mode: ErrorMode): Response {
  return respondAnswer(outcomeAnswer(outcome, 0), mode, retrySecondsOf(outcome));
}

/**
 * One answer as a whole response.
 *
 * @param retrySeconds given when the backend should come again: the status is then 503 in both modes
 */
export function respondAnswer(answer: ApiAnswer, mode: ErrorMode, retrySeconds?: number): Response {
  if ("result" in answer) return respondJson(encodeAnswer(answer));
  const transport = mode === "transport";
  const body = transport ? encodeError(answer.error) : encodeAnswer(answer);
  const headers = detailHeaders(answer.detail);
  if (retrySeconds !== undefined)
    return respondJson(body, 503, { ...headers, ...retry(retrySeconds) });
  return respondJson(body, transport ? errorStatus(answer.error) : 200, headers);
}

/**
 * A body with the answers to several commands; their errors are in it, whatever the mode.
 *
 * @param again given when the backend should come again with all of it: the status is then 503
 */
export function respondAnswers(body: string, again?: Retry): Response {
  if (again === undefined) return respondJson(body);
  const detail = again.nothingDone ? overloadedAnswer.detail : unansweredDetail;
  return respondJson(body, 503, { ...detailHeaders(detail), ...retry(again.seconds) });
}

/** 400, for what can't be read. */
export function respondMalformed(detail: string): Response {
  return respondText(400, "Bad Request", detailHeaders(detail));
}

/** 413, for a body beyond `limits.requestBytesMax`. */
export function respondTooLarge(): Response {
  return respondText(413, "Request Entity Too Large");
}

/** 401 without a body, as Centrifugo answers a wrong API key. */
export function respondUnauthorized(): Response {
  return new Response(null, { status: 401 });
}

export function respondMethodNotAllowed(allowed: readonly string[]): Response {
  return respondText(405, "Method Not Allowed", { Allow: allowed.join(", ") });
}

export function respondNotFound(): Response {
  return respondText(404, "Not Found");
}

/** 426, for what only a WebSocket can be opened on. */
export function respondUpgradeRequired(): Response {
  return respondText(426, "Upgrade Required", { Upgrade: "websocket", Connection: "Upgrade" });
}

/** 503, for a connection that can't be taken now. */
export function respondBusy(retrySeconds: number): Response {
  return respondText(503, "Service Unavailable", retry(retrySeconds));
}

/** When clients that were refused together are to come again: 2 to 10 s, so that they don't come together. */
export function busyRetrySeconds(): number {
  return 2 + Math.floor(Math.random() * 9);
}

/** 500, with nothing of what happened. */
export function respondInternalError(): Response {
  return respondText(500, "Internal Server Error");
}

/** 503 to every request, with what the operator has to do. Nobody but an operator can have caused it. */
export function respondUnconfigured(problems: readonly string[]): Response {
  return respondText(503, `${problems.join("\n")}\n`, retry(60));
}

export function respondHealthy(): Response {
  return respondJson("{}");
}

/** 204: what was posted was taken, or was for nobody. */
export function respondTaken(): Response {
  return new Response(null, { status: 204 });
}

/** A client's stream (docs/protocol.md 4.1). Nobody on the way may keep it, or keep it back. */
export function respondStream(stream: ReadableStream, contentType: string): Response {
  const headers = {
    "Content-Type": contentType,
    "Cache-Control": "private, no-cache, no-store, must-revalidate, max-age=0",
    "X-Accel-Buffering": "no",
    // Cloudflare and the local runtime compress JSON unasked, and gather it for that: nothing would come for minutes.
    "Content-Encoding": "identity",
  };
  return new Response(stream, { headers });
}

/** A long poll's answer. */
export function respondPoll(body: string, cacheControl: string): Response {
  return respondJson(body, 200, { "Cache-Control": cacheControl });
}

/** A text for people. */
export function respondText(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(text, { status, headers: { "Content-Type": "text/plain", ...headers } });
}

function respondJson(body: string, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

function retry(seconds: number): Record<string, string> {
  return { "Retry-After": String(seconds) };
}

function detailHeaders(detail: string | undefined): Record<string, string> {
  return detail === undefined ? {} : { "X-Dormouse-Error-Detail": headerDetail(detail) };
}

const unansweredDetail =
  "no channel answered in time; after error 100 the outcome is unknown, repeat with the same idempotency_key; " +
  "after 111 nothing was done";
