import { errorOf } from "../../contract/channel-call.ts";
import { type Config, everyOptions } from "../../config/config.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { RpcRequest } from "../../protocol/command.ts";
import { memberText } from "../../protocol/json/text.ts";
import { parsePayloadObject, type Payload, payloadText } from "../../protocol/payload.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import { requestTraced } from "../../session/commands.ts";
import { failWith, refuse, refuseByOptions, refuseWith } from "../../session/decision.ts";
import { callerOf } from "../../session/grant.ts";
import type { ClientMethods, RunningCommand, TurnTo } from "../../session/ports.ts";
import { rejectionCodeMin } from "./failure.ts";
import { procedureLimits } from "./limits.ts";
import { mayCallProcedures } from "./may.ts";
import type { ProcedureRequest } from "./procedure-call.ts";

/** The method by which clients call procedures (rule PC3). */
const callMethods: ClientMethods = new Map([
  ["dormouse.call", { readsOf: () => 0, bySend: false, publishes: true, carryOut: call }],
]);

/** That of a configuration: a backend may have a method of this name where no channel has code. */
export function callMethodsOf({ channel }: Config): ClientMethods | undefined {
  return everyOptions(channel).some(({ code }) => code !== undefined) ? callMethods : undefined;
}

/** `dormouse.call {channel, procedure, args?, idempotency_key?}` */
function call(command: RunningCommand<RpcRequest>, turnTo: TurnTo): void {
  const { session, id, done } = command;
  const parsed = parseCall(command.request.data);
  if (typeof parsed === "string") {
    done(refuseWith(errorCodes.badRequest, "PC3", parsed));
    return;
  }
  const { channel, request } = parsed;
  const known = session.context.channels.resolve(channel);
  if (known.outcome !== "resolved") {
    done(failWith(errorCodes.unknownChannel));
    return;
  }
  const may = mayCallProcedures(known, callerOf(session, channel));
  if (!may.allowed) done(refuse(may));
  else if (!turnTo(channel)) done(failWith(errorCodes.tooManyRequests));
  else {
    const operation = (info: ClientInfo) =>
      ({ method: "call", request, info, asMethod: true }) as const;
    requestTraced(command, channel, operation, (reply) => {
      if (reply.outcome === "answered") {
        const { data } = reply;
        done({ outcome: "reply", reply: { id, method: "rpc", data }, after: channel });
        return;
      }
      const error = errorOf(reply);
      const { code } = error;
      const reason = `rejected by ${request.procedure}: ${code}`;
      done(
        code >= rejectionCodeMin
          ? refuseWith(error, "PC2", reason)
          : refuseByOptions(error, "PC3", failure(code)),
      );
    });
  }
}

function failure(code: number): string {
  switch (code) {
    case errorCodes.methodNotFound.code:
      return "the code has no such procedure";
    case errorCodes.permissionDenied.code:
      return "the code lets no client call the procedure";
    case errorCodes.limitExceeded.code:
      return "the call passed a bound";
    case errorCodes.tooManyRequests.code:
      return "the channel is over a limit for now";
    default:
      return "the call failed";
  }
}

interface ParsedCall {
  readonly channel: string;
  readonly request: ProcedureRequest;
}

/** @returns why the data is none that calls a procedure */
function parseCall(data: Payload | undefined): ParsedCall | string {
  const text = data && payloadText(data);
  const params = parsePayloadObject(data);
  const { channel, procedure, idempotency_key: key = null } = params ?? {};
  const isCall = typeof channel === "string" && typeof procedure === "string";
  if (text === undefined || !isCall || (key !== null && typeof key !== "string"))
    return "data must be {channel, procedure, args?, idempotency_key?}";
  const args = memberText(text, "args");
  const { argsBytesMax } = procedureLimits;
  if (args !== undefined && !utf8Fits(args, argsBytesMax))
    return `args are longer than ${argsBytesMax} bytes`;
  const idempotencyKey = key ?? "";
  if (!utf8Fits(idempotencyKey, limits.idempotencyKeyBytesMax))
    return `idempotency_key is longer than ${limits.idempotencyKeyBytesMax} bytes`;
  return {
    channel,
    request: { procedure, ...(args !== undefined && { data: args }), idempotencyKey },
  };
}
