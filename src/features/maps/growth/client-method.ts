import { type Config, everyOptions, type HookTarget } from "../../../config/config.ts";
import { errorCodes } from "../../../protocol/codes.ts";
import type { RpcRequest } from "../../../protocol/command.ts";
import { trustedJsonText } from "../../../protocol/json/text.ts";
import { parsePayloadObject, type Payload, payloadText } from "../../../protocol/payload.ts";
import { isCount, isJsonObject, jsonValue } from "../../../protocol/wire-value.ts";
import { failWith, refuse, refuseWith } from "../../../session/decision.ts";
import { callerOf } from "../../../session/grant.ts";
import {
  ask,
  type ClientMethods,
  type RunningCommand,
  type TurnTo,
} from "../../../session/ports.ts";
import type { ClientInfo } from "../../../protocol/publication.ts";
import { answerRpc, requestTraced } from "../../../session/commands.ts";
import type { MapAppendRequest } from "../map-call.ts";
import { keyOf } from "../map-commands.ts";
import { clientsMapOf, mayAppend } from "../may.ts";
import { parseAppend } from "./append-request.ts";

/** The method by which clients append to values of maps (rule Z45). */
const appendMethods: ClientMethods = new Map([
  ["dormouse.append", { readsOf: () => 0, bySend: false, carryOut: append }],
]);

/** That of a configuration: a backend may have a method of this name where no namespace has maps that clients change. */
export function appendMethodsOf({ channel }: Config): ClientMethods | undefined {
  return everyOptions(channel).some(({ subscriptionType }) => subscriptionType === "map")
    ? appendMethods
    : undefined;
}

/** `dormouse.append {channel, key, text, at?, field?, final?}` */
function append(command: RunningCommand<RpcRequest>, turnTo: TurnTo): void {
  const { session, request, done } = command;
  const { channel, ...fields } = parseFields(request.data) ?? {};
  if (channel === undefined) {
    const shape = "data must be {channel, key, text, at?, field?, final?}";
    done(refuseWith(errorCodes.badRequest, "Z45", shape));
    return;
  }
  const known = session.context.channels.resolve(channel);
  if (known.outcome !== "resolved") {
    done(failWith(errorCodes.unknownChannel));
    return;
  }
  const map = clientsMapOf(known.options);
  const may = mayAppend(known, callerOf(session, channel));
  if (map !== undefined && !turnTo(channel)) done(failWith(errorCodes.tooManyRequests));
  else if (may.allowed === false) done(refuse(may));
  else {
    const given = { ...noFields, ...fields };
    const key = keyOf(session, given.key, map);
    const parsed = parseAppend({ ...given, key, idempotency_key: "" }, known.options);
    const appending = { command, channel };
    if (parsed.outcome === "refused")
      done(
        refuseWith(
          errorCodes.badRequest,
          "Z45",
          parsed.detail ?? "the request isn't one to append",
        ),
      );
    else if (may.allowed === "asked") askFirst(appending, parsed.request, may.by);
    else call(appending, parsed.request);
  }
}

/** An append that is carried out. */
interface CalledAppend {
  readonly command: RunningCommand<RpcRequest>;
  readonly channel: string;
}

/**
 * Lets a backend decide, as on a publish (rule Q2). It sees the text as the value that it belongs into, and may replace text
 * and key.
 */
function askFirst(appending: CalledAppend, request: MapAppendRequest, target: HookTarget): void {
  const { channel, command } = appending;
  const { key, text, field } = request;
  const data = trustedJsonText(JSON.stringify(field === undefined ? text : { [field]: text }));
  const question = { channel, key, data, method: "dormouse.append" };
  const { nowMs, session, done } = command;
  ask(session, { hook: "map_publish", question, target, nowMs }, (answer, answeredMs) => {
    if (answer.outcome !== "granted") {
      done(answer);
      return;
    }
    const granted = textOf(answer.granted.data, field);
    if (granted === undefined) {
      done(refuseWith(errorCodes.internal, "Q5", "the backend's data has no text to append"));
      return;
    }
    const own = { ...request, key: answer.granted.key, text: granted };
    call({ ...appending, command: { ...command, nowMs: answeredMs } }, own);
  });
}

function call({ command, channel }: CalledAppend, request: MapAppendRequest): void {
  const operation = (info: ClientInfo) =>
    ({ method: "map_append", request, info, asMethod: true }) as const;
  requestTraced(command, channel, operation, (reply) => answerRpc(command, reply));
}

function textOf(data: Payload, field: string | undefined): string | undefined {
  const json = payloadText(data);
  const value = json === undefined ? null : jsonValue(json);
  const text = field !== undefined && isJsonObject(value) ? value[field] : value;
  return typeof text === "string" && text.isWellFormed() ? text : undefined;
}

/** The fields that a client gives, and those that it leaves out. */
interface GivenFields {
  readonly key: string;
  readonly text: string;
  readonly at?: number;
  readonly field: string;
  readonly final: boolean;
}

const noFields: GivenFields = { key: "", text: "", field: "", final: false };

/** The fields of a call, of which none has a wrong type; undefined otherwise. */
function parseFields(
  data: Payload | undefined,
): (Partial<GivenFields> & { readonly channel: string }) | undefined {
  const params = parsePayloadObject(data);
  if (params === undefined) return undefined;
  const { channel, key = null, text = null, at = null, field = null, final = null } = params;
  if (typeof channel !== "string") return undefined;
  if (key !== null && typeof key !== "string") return undefined;
  if (text !== null && typeof text !== "string") return undefined;
  if (field !== null && typeof field !== "string") return undefined;
  if (final !== null && typeof final !== "boolean") return undefined;
  if (at !== null && !isCount(at)) return undefined;
  return {
    channel,
    ...(key !== null && { key }),
    ...(text !== null && { text }),
    ...(at !== null && { at }),
    ...(field !== null && { field }),
    ...(final !== null && { final }),
  };
}
