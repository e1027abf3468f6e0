import {
  type ApiCaller,
  type ApiMethod,
  type ParsedCommand,
  type ParsedEntry,
  type SingleMethod,
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
import { parseMapRequest } from "./map.ts";
import { parsePollPublish } from "./poll-publish.ts";
import { parseBroadcast, parsePublish } from "./publish.ts";
import { parseChannelRequest, parseHistory } from "./read.ts";
import { parseInspect, parseWhy } from "./why.ts";

/** Those of Centrifugo PRO: push notifications, and what belongs to tokens. */
const missingProMethods = [
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

/** The answer's detail for a backend that names a method outside `apiMethods`, or none. */
export function unknownMethodDetail(name: string | undefined): string {
  const missing = missingMethods.find((known) => known === name);
  return missing === undefined ? "unknown method" : missingDetail(missing);
}

/**
 * Parses the parameters of a method, from whichever form of request (docs/protocol.md 6.2).
 *
 * @param params valid JSON, which is cut as text so that `data` stays as its sender wrote it (rule W2)
 */
export function parseCommand(method: ApiMethod, params: string, caller: ApiCaller): ParsedCommand {
  return method === "broadcast"
    ? parseBroadcast(params, caller)
    : singleCommand(method, parseEntry(method, params, caller));
}

/** Parses the parameters of a method for one channel, like {@link parseCommand}. */
export function parseEntry(method: SingleMethod, params: string, caller: ApiCaller): ParsedEntry {
  switch (method) {
    case "publish":
      return parsePublish(params, caller);
    case "history":
      return parseHistory(params, caller);
    case "disconnect":
      return parseDisconnect(params, caller);
    case "unsubscribe":
      return parseUnsubscribe(params, caller);
    case "subscribe":
      return parseSubscribe(params, caller);
    case "refresh":
      return parseRefresh(params, caller);
    case "block_user":
      return parseBlock(params, caller);
    case "unblock_user":
      return parseUnblock(params, caller);
    case "revoke_token":
      return parseRevoke(params, caller);
    case "invalidate_user_tokens":
      return parseInvalidate(params, caller);
    case "connections":
      return parseConnections(params, caller);
    case "update_user_status":
      return parseUpdateStatus(params, caller);
    case "get_user_status":
    case "delete_user_status":
      return parseStatus(method, params, caller);
    case "info":
      return parseInfo(params, caller);
    case "channels":
      return parseChannels(params, caller);
    case "why":
      return parseWhy(params, caller);
    case "inspect":
      return parseInspect(params, caller);
    case "map_publish":
    case "map_remove":
    case "map_read_state":
    case "map_read_stream":
    case "map_stats":
    case "map_clear":
      return parseMapRequest(method, params, caller);
    case "shared_poll_publish":
      return parsePollPublish(params, caller);
    case "history_remove":
    case "presence":
    case "presence_stats":
      break;
  }
  return parseChannelRequest(method, params, caller);
}
