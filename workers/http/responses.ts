/** All responses of the edge, and the choice of their statuses. */
import {
  type ApiAnswer,
  encodeAnswer,
  encodeError,
  headerDetail,
  overloadedAnswer,
  type Retry,
  errorStatus,
} from "../../src/api/answers.ts";
import { isDevelopment } from "../platform/configuration.ts";
import type { AppEnv } from "./app-env.ts";
import type { Context } from "hono";

/** How a request's errors are answered. */
export interface ErrorMode {
  /** By the status, and not in a body with status 200. */
  readonly transport: boolean;
  /** With their details in the body, for developers (rule W12). */
  readonly detailed: boolean;
}

/** The error mode that a request asks for, or else the configured one (docs/protocol.md 6.1). */
export function errorModeOf(context: Context<AppEnv>): ErrorMode {
  const asked = context.req.header("X-Centrifugo-Error-Mode") === "transport";
  const { errorMode } = context.get("configured").config.httpApi;
  return { transport: asked || errorMode === "transport", detailed: isDevelopment(context.env) };
}

/**
 * Responds with one answer.
 *
 * @param retrySeconds if the backend should retry after so many seconds: the status is then 503 in both modes
 */
export function respondAnswer(answer: ApiAnswer, mode: ErrorMode, retrySeconds?: number): Response {
  if ("result" in answer) return respondJson(encodeAnswer(answer));
  const { transport, detailed } = mode;
  const body = transport ? encodeError(answer, detailed) : encodeAnswer(answer, detailed);
  const headers = detailHeaders(answer.detail);
  if (retrySeconds !== undefined)
    return respondJson(body, 503, { ...headers, ...retry(retrySeconds) });
  return respondJson(body, transport ? errorStatus(answer.error) : 200, headers);
}

/**
 * Responds with the answers to several commands. Their errors are in the body, whatever the mode.
 *
 * @param again if the backend should retry the whole request: the status is then 503
 */
export function respondAnswers(body: string, again?: Retry): Response {
  if (again === undefined) return respondJson(body);
  const detail = again.nothingDone ? overloadedAnswer.detail : unansweredDetail;
  return respondJson(body, 503, { ...detailHeaders(detail), ...retry(again.seconds) });
}

/** 400, for a malformed request; the detail is in a header. */
export function respondMalformed(detail: string): Response {
  return respondText(400, "Bad Request", detailHeaders(detail));
}

/** 413, for a body over its limit. */
export function respondTooLarge(): Response {
  return respondText(413, "Request Entity Too Large");
}

/** 415, for a compressed body (rule W15): one that expands could hold any number of bytes. */
export function respondCompressed(): Response {
  const detail = "the body has a Content-Encoding: send it uncompressed, without this header";
  const headers = { ...detailHeaders(detail), "Accept-Encoding": "identity" };
  return respondText(415, `Unsupported Media Type: ${detail}`, headers);
}

/** 408, for a body that doesn't end (rule B20). */
export function respondTooSlow(): Response {
  return respondText(408, "Request Timeout");
}

/** 401 without a body, as Centrifugo responds to a wrong API key. */
export function respondUnauthorized(): Response {
  return new Response(null, { status: 401 });
}

/** 405, with the allowed methods. */
export function respondMethodNotAllowed(allowed: readonly string[]): Response {
  return respondText(405, `Method Not Allowed: use ${allowed.join(" or ")}`, {
    Allow: allowed.join(", "),
  });
}

/** 404, for a path or an object that does not exist. */
export function respondNotFound(): Response {
  return respondText(404, "Not Found");
}

/** 426, for an address that accepts only WebSockets. */
export function respondUpgradeRequired(): Response {
  return respondText(426, "Upgrade Required", { Upgrade: "websocket", Connection: "Upgrade" });
}

/** 503, for a connection that can't be accepted now. */
export function respondBusy(retrySeconds: number): Response {
  return respondText(503, "Service Unavailable", retry(retrySeconds));
}

/**
 * A refusal after which the runtime ends the connection. Otherwise the client keeps it for 15 s, with two file
 * descriptors. The runtime does so for a body that fails, after it has sent what came before, and logs no error that is
 * retryable.
 */
export function cutOff(refusal: Response): Response {
  let isSent = false;
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    if (isSent) {
      // In which the head leaves.
      await scheduler.wait(5);
      controller.error(Object.assign(new Error("refused"), { retryable: true }));
    } else {
      isSent = true;
      controller.enqueue(new Uint8Array(1));
    }
  };
  return new Response(new ReadableStream({ pull }), refusal);
}

/**
 * The seconds until a refused client should try again: 2 to 10, at random, so that clients that were refused together
 * don't return together.
 */
export function busyRetrySeconds(): number {
  return 2 + Math.floor(Math.random() * 9);
}

/** 500, without any detail of the failure. */
export function respondInternalError(): Response {
  return respondText(500, "Internal Server Error");
}

/**
 * 503 for every request, with the problems that the operator has to solve (rule A8). They come from the configuration
 * alone, and quote nothing from the request.
 */
export function respondUnconfigured(problems: readonly string[]): Response {
  return respondText(503, `${problems.join("\n")}\n`, retry(60));
}

/** 200 with `{}`. */
export function respondHealthy(): Response {
  return respondJson("{}");
}

/** 204: the posted frame was taken, or its session doesn't exist (rule T4). */
export function respondNoContent(): Response {
  return new Response(null, { status: 204 });
}

/** A client's stream (docs/protocol.md 4.1). No proxy may cache or buffer it. */
export function respondStream(stream: ReadableStream, contentType: string): Response {
  const headers = {
    "Content-Type": contentType,
    "Cache-Control": "private, no-cache, no-store, must-revalidate, max-age=0",
    "X-Accel-Buffering": "no",
    // Cloudflare and the local runtime compress JSON by default, and buffer it for minutes to do so.
    "Content-Encoding": "identity",
  };
  return new Response(stream, { headers });
}

/** The response to a long poll. */
export function respondPoll(body: string, cacheControl: string): Response {
  return respondJson(body, 200, { "Cache-Control": cacheControl });
}

/** A plain text for a person. */
export function respondText(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(text, { status, headers: { "Content-Type": "text/plain", ...headers } });
}

function respondJson(body: string, status = 200, headers?: Record<string, string>): Response {
  if (status === 200 && headers === undefined) return new Response(body, plainJson);
  return new Response(body, {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

const plainJson: ResponseInit = { headers: { "Content-Type": "application/json" } };

function retry(seconds: number): Record<string, string> {
  return { "Retry-After": String(seconds) };
}

function detailHeaders(detail: string | undefined): Record<string, string> {
  return detail === undefined ? {} : { "X-Dormouse-Error-Detail": headerDetail(detail) };
}

const unansweredDetail =
  "no channel answered in time; after error 100 the outcome is unknown, retry with the same idempotency_key; " +
  "after error 111 nothing was done";
