import type { HookRefusal, HookTarget } from "../../config/config.ts";
import type { HookHeader } from "../../contract/session-snapshot.ts";
import type { BackendQuestion, BackendReply } from "../../contract/backend-call.ts";
import type { AskBackend } from "../../object/part.ts";
import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import { Backend } from "./backend.ts";
import { parseHookResponse } from "./response.ts";

/**
 * The hooks of one object: asks backends for its sessions, within bounds, and not while a backend is down (rules Q5 to
 * Q7). Sessions build the questions and read the results.
 */
export class Hooks {
  readonly #call: AskBackend;
  readonly #backends: Backends;

  /**
   * @param call     asks a backend, once
   * @param backends shared by those whose questions have the bounds in common; the object's own if absent
   */
  constructor(call: AskBackend, backends: Backends = new Map()) {
    this.#call = call;
    this.#backends = backends;
  }

  /**
   * Asks a backend.
   *
   * @param done called at most once, at once or later, with the time; not if the answer isn't wanted any more before the
   *             backend is asked
   */
  ask(
    target: HookTarget,
    { hook, body, headers, isWanted, asker }: SessionQuestion,
    nowMs: number,
    done: (answer: HookAnswer, nowMs: number) => void,
  ): void {
    const name = backendOf(target);
    const backend = this.#backends.get(name) ?? new Backend();
    this.#backends.set(name, backend);
    const question: BackendQuestion = {
      hook,
      target: target.name,
      body,
      ...(headers.length === 0 ? {} : { headers }),
    };
    backend.ask(asker, body.length, nowMs, (turn) => {
      if (turn !== "go") {
        done(turn === "busy" ? tooMany : isDown, nowMs);
        return;
      }
      // Clients that wait for long go away, and come back with another question.
      if (!isWanted()) {
        backend.skipped(asker, nowMs);
        return;
      }
      this.#call(question, target.timeoutMs, (reply, replyMs) => {
        const answer = reply.outcome === "busy" ? tooMany : answerOf(reply, target);
        const pauseMs = reply.outcome === "answered" ? (reply.retryAfterSeconds ?? 0) * 1_000 : 0;
        const outcome = isOutage(reply, target) ? "failed" : "answered";
        backend.answered(asker, outcome, pauseMs, replyMs);
        if (backend.idle) this.#backends.delete(name);
        done(answer, replyMs);
      });
    });
  }
}

/** The backends, by origin or binding: hooks at the same backend share its bounds. */
export type Backends = Map<string, Backend>;

/** A question as a session has it. */
export interface SessionQuestion {
  readonly hook: string;
  readonly body: JsonText;
  /** The headers of the connection that the target names. */
  readonly headers: readonly HookHeader[];
  /** The one who asks: a user, or a connection without one. Each has a share (rule Q11). */
  readonly asker: string;
  /** Whether the connection is still there. */
  readonly isWanted: () => boolean;
}

/** What came of a question. */
export type HookAnswer =
  /** The result as the backend wrote it; undefined if the response has none. */
  | { readonly outcome: "result"; readonly result: JsonText | undefined }
  | HookRefusal
  /** The backend wasn't asked, or gave no answer that can be used. `reason` is for the log, and quotes nothing. */
  | { readonly outcome: "failed"; readonly error: ErrorCode; readonly reason: string };

/** A backend's refusal, or no answer that can be used. */
export type HookRefused = Exclude<HookAnswer, { readonly outcome: "result" }>;

/** Why a backend's answer isn't a result, for the log. The message of a backend isn't quoted (rule A7). */
export function reasonOf(answer: HookRefused, { name }: HookTarget): string {
  switch (answer.outcome) {
    case "error":
    case "disconnect":
      return `the backend of ${name} refused it`;
    case "failed":
      return `${name} failed: ${answer.reason}`;
  }
}

/** The answer to a question whose result can't be used. */
export function failedAnswer(reason: string): HookAnswer & { readonly outcome: "failed" } {
  return { outcome: "failed", error: errorCodes.internal, reason };
}

/** The answer to a question that isn't asked, because too many are (rule Q6). */
export const tooMany: HookAnswer = {
  outcome: "failed",
  error: errorCodes.tooManyRequests,
  reason: "too many questions to the backend are in flight and wait",
};

const isDown: HookAnswer = failedAnswer("the backend has failed, and isn't asked for a while");

function answerOf(reply: BackendReply, { statuses }: HookTarget): HookAnswer {
  if (reply.outcome === "failed") return failedAnswer(reply.reason);
  const { status, body } = reply;
  if (status !== 200)
    return statuses.get(status) ?? failedAnswer(`the response has status ${status}`);
  const response = parseHookResponse(body);
  return response.outcome === "invalid" ? failedAnswer(response.reason) : response;
}

/**
 * Whether a reply says that the backend is down: there is none, or its status is 429 or one of a fault of the backend's. A
 * status that the configuration gives a meaning is an answer like any other, unless the backend asks for a pause.
 */
function isOutage(
  reply: BackendReply | { readonly outcome: "busy" },
  { statuses }: HookTarget,
): boolean {
  if (reply.outcome === "busy") return false;
  if (reply.outcome === "failed") return true;
  const { status, retryAfterSeconds } = reply;
  const isFault = status === 429 || status >= 500;
  return isFault && (retryAfterSeconds !== undefined || !statuses.has(status));
}

/** The origin of the URL, or the binding. */
function backendOf({ endpoint }: HookTarget): string {
  if (endpoint.kind === "service") return `service:${endpoint.binding}`;
  return /^\w+:\/\/[^/?]+/.exec(endpoint.url)?.[0] ?? endpoint.url;
}
