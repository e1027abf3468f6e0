import { type CommandName, isCommandName } from "../access/operations.ts";
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
import {
  parseBlock,
  parseDisconnect,
  parseInvalidate,
  parseRefresh,
  parseRevoke,
  parseSubscribe,
  parseUnblock,
  parseUnsubscribe,
} from "./order.ts";
import { parseChannels, parseConnections, parseInfo } from "./question.ts";
import { parseStatus, parseUpdateStatus } from "./user-status.ts";
import {
  parseMapOnly,
  parseMapPublish,
  parseMapRemove,
  parseReadState,
  parseReadStream,
} from "./map.ts";
import { parsePollPublish } from "./poll-publish.ts";
import { parseBroadcast, parsePublish } from "./publish.ts";
import { parseChannelRequest, parseHistory } from "./read.ts";
import { parseInspect, parseWhy } from "./why.ts";
import { objectOf, parseShape, textField } from "./shape.ts";

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
  return parsers[name](params, caller);
}

const parsers: Readonly<Record<SingleName, (params: string, caller: ApiCaller) => ParsedEntry>> = {
  publish: parsePublish,
  history: parseHistory,
  history_remove: (params, caller) => parseChannelRequest("history_remove", params, caller),
  presence: (params, caller) => parseChannelRequest("presence", params, caller),
  presence_stats: (params, caller) => parseChannelRequest("presence_stats", params, caller),
  disconnect: parseDisconnect,
  unsubscribe: parseUnsubscribe,
  subscribe: parseSubscribe,
  refresh: parseRefresh,
  block_user: parseBlock,
  unblock_user: parseUnblock,
  revoke_token: parseRevoke,
  invalidate_user_tokens: parseInvalidate,
  connections: parseConnections,
  info: parseInfo,
  channels: parseChannels,
  update_user_status: parseUpdateStatus,
  get_user_status: (params, caller) => parseStatus("get_user_status", params, caller),
  delete_user_status: (params, caller) => parseStatus("delete_user_status", params, caller),
  why: parseWhy,
  inspect: parseInspect,
  map_publish: parseMapPublish,
  map_remove: parseMapRemove,
  map_read_state: parseReadState,
  map_read_stream: parseReadStream,
  map_stats: (params, caller) => parseMapOnly("map_stats", params, caller),
  map_clear: (params, caller) => parseMapOnly("map_clear", params, caller),
  shared_poll_publish: parsePollPublish,
};
