import type { CommandName } from "../access/operations.ts";
import { errorCodes } from "../protocol/codes.ts";
import {
  type ApiCaller,
  type ParsedCommand,
  type ParsedEntry,
  type Refused,
  refusedRequest,
  type SingleName,
  singleCommand,
} from "./command.ts";
import { featureMethods } from "../features/index.ts";
import { orderMethods } from "./order-methods.ts";
import { parseBroadcast, publishMethods } from "./publish.ts";
import { isCommandName, operationOf } from "./operations.ts";
import { questionMethods } from "./question.ts";
import { readMethods } from "./read.ts";
import {
  type AnyMethod,
  fieldsOf,
  objectOf,
  parseSelection,
  parseShape,
  refusedFor,
  textField,
} from "./shape.ts";
import { detailOfMissing, unknownFields } from "./unknown-fields.ts";
import { statusMethods } from "./status-methods.ts";

/** Those of Centrifugo PRO: push notifications, and what belongs to tokens. */
export const missingProMethods = [
  "device_register",
  "device_update",
  "device_remove",
  "device_list",
  "device_topic_list",
  "device_topic_update",
  "user_topic_list",
  "user_topic_update",
  "send_push_notification",
  "update_push_status",
  "cancel_push",
] as const;

/**
 * Centrifugo's methods that Dormouse doesn't support yet. They are listed so that a batch reports one of them together
 * with a known method instead of ignoring it.
 */
export const missingMethods = ["rpc", ...missingProMethods] as const;

/** The answer's detail for a backend that calls one of {@link missingMethods}. */
export function missingDetail(method: string): string {
  return `${method} is a method of Centrifugo that Dormouse doesn't have yet`;
}

/** The answer's detail for a backend that names a method that no command may have. */
export function unknownMethodDetail(name: string): string {
  const missing = missingMethods.find((known) => known === name);
  return missing === undefined ? "unknown method" : missingDetail(missing);
}

/**
 * Parses the parameters of a method, from whichever form of request (docs/protocol.md 6.2).
 *
 * @param params valid JSON, which is cut as text so that `data` stays as its sender wrote it (rule W2)
 */
export function parseCommand(
  method: CommandName,
  params: string,
  caller: ApiCaller,
): ParsedCommand {
  return method === "broadcast"
    ? parseBroadcast(params, caller)
    : singleCommand(method, parseEntry(method, params, caller));
}

/** Parses a command whose method may be one that no command has (rule W9), like {@link parseCommand}. */
export function parseNamed(name: string, params: string, caller: ApiCaller): ParsedCommand {
  if (name === "rpc") return singleCommand("rpc", parseRpc(params));
  if (isCommandName(name)) return parseCommand(name, params, caller);
  return singleCommand("unknown", notFound(unknownMethodDetail(name)));
}

/** Parses an `rpc` request: there is no extension that could have its method (rule W9). */
export function parseRpc(params: string): ParsedEntry {
  const parsed = parseShape(rpcShape, params);
  if (parsed.outcome === "malformed") return parsed;
  return parsed.value.method === ""
    ? refusedRequest("method is required")
    : notFound(missingDetail("rpc"));
}

/** Built for each request, as none is expected. */
const rpcShape = () => objectOf({ method: textField() });

function notFound(detail: string): Refused {
  // The words of Centrifugo's HTTP API, which are others than those of its client protocol.
  return {
    outcome: "refused",
    error: { ...errorCodes.methodNotFound, message: "not found" },
    detail,
  };
}

/** Parses the parameters of a method with one entry, like {@link parseCommand}. */
export function parseEntry(name: SingleName, params: string, caller: ApiCaller): ParsedEntry {
  const method: AnyMethod = methods[name];
  const parse = method.selects === true ? parseSelection : parseShape;
  const parsed = parse(method.shape, params);
  if (parsed.outcome !== "shape") return parsed;
  const operation = operationOf(name);
  caller.noteUnknown?.(name, unknownFields(params, fieldsOf(method)));
  const entry = method.entry(parsed.value, { method: name, operation, params, caller });
  if (entry.outcome !== "refused") return entry;
  const detail = detailOfMissing(entry.detail, params, fieldsOf(method));
  const channel: unknown = Reflect.get(parsed.value, "channel");
  const refused = { ...entry, detail };
  return typeof channel === "string" ? refusedFor(channel, refused) : refused;
}

/** How the requests of each method are read that has one entry. */
export const methods = {
  ...publishMethods,
  ...readMethods,
  ...orderMethods,
  ...questionMethods,
  ...statusMethods,
  ...featureMethods,
} as const satisfies Readonly<Record<SingleName, AnyMethod>>;
