import { acceptsData } from "../../channel/publication-request.ts";
import { type Config, everyOptions } from "../../config/config.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { RpcRequest } from "../../protocol/command.ts";
import { memberText } from "../../protocol/json/text.ts";
import { parsePayloadObject, type Payload, payloadText } from "../../protocol/payload.ts";
import { isCount } from "../../protocol/wire-value.ts";
import type { ClientInfo, Tags } from "../../protocol/publication.ts";
import { answerRpc, requestTraced } from "../../session/commands.ts";
import { failWith, refuse, refuseWith } from "../../session/decision.ts";
import { callerOf } from "../../session/grant.ts";
import {
  ask,
  type ClientMethod,
  type ClientMethods,
  type RunningCommand,
  type TurnTo,
} from "../../session/ports.ts";
import type { ChangeOperation, ChangeRequest } from "./change-call.ts";
import { mayChange } from "./may.ts";
import { refusedReason } from "./methods.ts";
import { nothingIn } from "./nothing.ts";

/** Makes the methods by which clients change publications (rule ED13). */
function newMethods(): ClientMethods {
  return new Map(
    (["dormouse.update", "dormouse.delete"] as const).map((name) => [name, methodOf(name)]),
  );
}

function methodOf(name: ChangeMethod): ClientMethod {
  return {
    readsOf: () => 0,
    bySend: false,
    carryOut: (command, turnTo) => change(command, turnTo, name),
  };
}

type ChangeMethod = "dormouse.update" | "dormouse.delete";

/** Made when the first object with such channels starts. */
let changeMethods: ClientMethods | undefined;

/** The methods under a configuration: if no namespace allows changes, a backend may have methods of these names. */
export function changeMethodsOf({ channel }: Config): ClientMethods | undefined {
  return everyOptions(channel).some(({ changes }) => changes !== undefined)
    ? (changeMethods ??= newMethods())
    : undefined;
}

/** `dormouse.update {channel, offset, data, epoch?, if_version?}`, `dormouse.delete {channel, offset, reason?, …}` */
function change(command: RunningCommand<RpcRequest>, turnTo: TurnTo, method: ChangeMethod): void {
  const { session, request, nowMs, done } = command;
  const isUpdate = method === "dormouse.update";
  const parsed = parseChange(request.data, isUpdate);
  if (parsed === undefined) {
    const fields = isUpdate ? "data" : "reason?";
    const shape = `data must be {channel, offset, ${fields}, epoch?, if_version?}`;
    done(refuseWith(errorCodes.badRequest, "ED13", shape));
    return;
  }
  const { channel, data, reason, request: asked } = parsed;
  const known = session.context.channels.resolve(channel);
  if (known.outcome !== "resolved") {
    done(failWith(errorCodes.unknownChannel));
    return;
  }
  const { options } = known;
  const may = mayChange(known, callerOf(session, channel));
  if (!turnTo(channel)) done(failWith(errorCodes.tooManyRequests));
  else if (may.allowed === false) done(refuse(may));
  else if (data !== undefined && !acceptsData(options, data))
    done(refuseWith(errorCodes.badRequest, "ED13", "the namespace doesn't accept such data"));
  else {
    const own: ChangeRequest = may.allowed === "own" ? { ...asked, ownOnly: true } : asked;
    const carryOut = (running: RunningCommand<RpcRequest>, edit: Edit | undefined): void =>
      call(running, channel, (info) =>
        edit === undefined
          ? { method: "delete_publication", request: { ...own, reason }, info, asMethod: true }
          : {
              method: "update_publication",
              request: { ...own, ...edit, delta: false },
              info,
              asMethod: true,
            },
      );
    if (options.publishHook === undefined) {
      carryOut(command, data && { data });
      return;
    }
    const { offset, epoch } = asked;
    const question = {
      channel,
      data: data ?? nothingIn(options),
      method,
      offset,
      epoch,
      reason,
    };
    const inquiry = { hook: "publish", question, target: options.publishHook, nowMs } as const;
    ask(session, inquiry, (answer, answeredMs) => {
      if (answer.outcome === "granted") {
        const { data: granted, tags } = answer.granted;
        const edit = { data: granted, ...(tags && { tags }) };
        carryOut({ ...command, nowMs: answeredMs }, isUpdate ? edit : undefined);
      } else done(answer);
    });
  }
}

function call(
  command: RunningCommand<RpcRequest>,
  channel: string,
  operationOf: (info: ClientInfo) => ChangeOperation & { readonly info: ClientInfo },
): void {
  requestTraced(command, channel, operationOf, (reply) => answerRpc(command, reply));
}

/** The new contents of an edited publication, which a backend may have replaced. */
interface Edit {
  readonly data: Payload;
  readonly tags?: Tags;
}

/** A call of a client. */
interface ParsedChange {
  readonly channel: string;
  readonly request: ChangeRequest;
  /** Undefined for a deletion. */
  readonly data: Payload | undefined;
  readonly reason: string;
}

/** The fields of a call, of which none is missing or has a wrong type; undefined otherwise. */
function parseChange(payload: Payload | undefined, isUpdate: boolean): ParsedChange | undefined {
  const params = parsePayloadObject(payload);
  const text = payload && payloadText(payload);
  if (params === undefined || text === undefined) return undefined;
  const { channel, offset, epoch = "", reason = "", if_version: ifVersion } = params;
  if (typeof channel !== "string" || typeof epoch !== "string") return undefined;
  if (typeof reason !== "string" || refusedReason(reason) !== undefined) return undefined;
  if (!isCount(offset) || offset === 0) return undefined;
  if (ifVersion !== undefined && !isCount(ifVersion)) return undefined;
  // The data stays as its publisher wrote it (rule W2).
  const data = isUpdate ? memberText(text, "data") : undefined;
  if (isUpdate && data === undefined) return undefined;
  const condition = ifVersion !== undefined && { ifVersion };
  const request = { offset, epoch, idempotencyKey: "", ...condition };
  return { channel, request, data, reason };
}
