/** The commands that ask a backend and nothing else: `rpc` and `send` (docs/protocol.md 7). */
import type { HookTarget, RpcConfig } from "../config/config.ts";
import { parseRpcResult } from "../hooks/response.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { RpcRequest } from "../protocol/command.ts";
import type { Payload } from "../protocol/payload.ts";
import { type DecisionDone, disconnectWith, refuseWith, silent } from "./decision.ts";
import { askHook, reasonOf, refusedByHook, unusableResult } from "./hook.ts";
import type { CommandSession } from "./ports.ts";

/** Calls a method of a backend. Calls of one client are under way together, and end in any order. */
export function callMethod(
  session: CommandSession,
  id: number,
  { method, data }: RpcRequest,
  nowMs: number,
  done: DecisionDone,
): void {
  const { rpc } = session.context.config;
  if (rpc.pingEnabled && method === "ping") {
    done({ outcome: "reply", reply: { id, method: "rpc" } });
    return;
  }
  const target = backendOf(method, rpc);
  if (typeof target === "string") {
    done(
      target === "unknown"
        ? refuseWith(errorCodes.methodNotFound, "W1", unknownMethod)
        : refuseWith(errorCodes.notAvailable, "W1", "rpc isn't available"),
    );
    return;
  }
  const subject = { hook: "rpc", method, ...(data === undefined ? {} : { data }) } as const;
  askHook(session, target, subject, nowMs, (answer) => {
    if (answer.outcome !== "result") {
      done(refusedByHook(answer, target));
      return;
    }
    const read = parseRpcResult(answer.result);
    if (read.outcome === "invalid") done(unusableResult(read.reason, target));
    else {
      const result = read.data === undefined ? {} : { data: read.data };
      done({ outcome: "reply", reply: { id, method: "rpc", ...result } });
    }
  });
}

/**
 * The backend of a method. "unknown": its namespace isn't configured, although others are. "off": the hook isn't switched
 * on (docs/protocol.md 1.6).
 */
function backendOf(
  method: string,
  { withoutNamespace, namespaces, namespaceBoundary }: RpcConfig,
): HookTarget | "unknown" | "off" {
  const boundary = namespaceBoundary === "" ? -1 : method.indexOf(namespaceBoundary);
  if (boundary < 0) return withoutNamespace ?? "off";
  const namespace = method.slice(0, boundary);
  if (namespaces.has(namespace)) return namespaces.get(namespace) ?? "off";
  return withoutNamespace === undefined && namespaces.size === 0 ? "off" : "unknown";
}

const unknownMethod = "rpc.namespaces doesn't have the method's namespace";

/**
 * Passes on what a client sends. It has no id, so nothing can be answered; a backend may disconnect the client. Messages
 * of one client may reach the backend in another order.
 */
export function passMessage(
  session: CommandSession,
  data: Payload | undefined,
  nowMs: number,
  done: DecisionDone,
): void {
  const target = session.context.config.hooks.message;
  if (target === undefined) {
    done(disconnectWith(disconnectCodes.notAvailable, "W1", "send isn't available"));
    return;
  }
  const subject = { hook: "message", ...(data === undefined ? {} : { data }) } as const;
  askHook(session, target, subject, nowMs, (answer) => {
    if (answer.outcome === "disconnect") done(refusedByHook(answer, target));
    else {
      const { refused } = session.context;
      if (answer.outcome !== "result")
        refused?.({
          refused: "send",
          rule: "Q5",
          reason: reasonOf(answer, target),
          code: answer.error.code,
          user: session.user,
        });
      done(silent);
    }
  });
}
