import type { HookTarget } from "../config/config.ts";
import { headersFor, withTrace } from "../hooks/headers.ts";
import { failedAnswer, type HookAnswer } from "../hooks/hooks.ts";
import { awaitsReply, type HookClient, type HookSubject, hookRequest } from "../hooks/request.ts";
import { disconnectCodes } from "../protocol/codes.ts";
import type { Decision } from "./decision.ts";
import { protocolOf, transportOf } from "./connection-state.ts";
import type { CommandSession } from "./ports.ts";

/**
 * Asks a backend for a session (docs/protocol.md 7). If the connection ends first, the answer does nothing (rule Q4).
 *
 * @param done called at most once, with the time, in the object's own time or within this call
 */
export function askHook(
  session: CommandSession,
  target: HookTarget,
  subject: HookSubject,
  nowMs: number,
  done: (answer: HookAnswer, nowMs: number) => void,
): void {
  const { hooks } = session.context;
  if (hooks === undefined) {
    done(failedAnswer("this object asks no backends"), nowMs);
    return;
  }
  const body = hookRequest(clientOf(session, target), subject, target.binaryEncoding);
  const { headers: kept = {}, traceparent } = session.identity;
  const headers = withTrace(headersFor(target, kept), traceparent);
  const isMarked = awaitsReply(subject.hook);
  if (isMarked) session.hookAsked();
  const { user, identity } = session;
  const asker = user === "" ? `client ${identity.client}` : `user ${user}`;
  const question = { hook: subject.hook, body, headers, asker, isWanted: () => !session.closed };
  hooks.ask(target, question, nowMs, (answer, answeredMs) => {
    if (session.closed) return;
    if (isMarked) session.hookAnswered();
    try {
      done(answer, answeredMs);
    } catch (error) {
      // A bug of the server must not leave the client waiting: this code makes the client reconnect.
      session.disconnect(disconnectCodes.internalServerError);
      throw error;
    }
  });
}

/** The decision on a command that a backend refuses, or for which it gives no usable answer (rule Q5). */
export function refusedByHook(
  answer: Exclude<HookAnswer, { readonly outcome: "result" }>,
  target: HookTarget,
): Decision {
  const why = { rule: "Q5", reason: reasonOf(answer, target) };
  return answer.outcome === "disconnect"
    ? { outcome: "disconnect", code: answer.code, why }
    : { outcome: "error", error: answer.error, why };
}

/** The decision on a command whose backend gives a result that can't be used. */
export function unusableResult(reason: string, target: HookTarget): Decision {
  return refusedByHook(failedAnswer(`the result can't be used: ${reason}`), target);
}

/** Why a backend's answer isn't a result, for the log. The message of a backend isn't quoted (rule A7). */
export function reasonOf(
  answer: Exclude<HookAnswer, { readonly outcome: "result" }>,
  { name }: HookTarget,
): string {
  switch (answer.outcome) {
    case "error":
    case "disconnect":
      return `the backend of ${name} refused it`;
    case "failed":
      return `${name} failed: ${answer.reason}`;
  }
}

function clientOf(session: CommandSession, { includesMeta }: HookTarget): HookClient {
  const { identity, user } = session;
  const meta = includesMeta ? identity.claims?.meta : undefined;
  return {
    client: identity.client,
    transport: transportOf(identity),
    protocol: protocolOf(identity),
    user,
    ...(meta === undefined ? {} : { meta }),
  };
}
