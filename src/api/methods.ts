import type { ChannelConfig } from "../config/config.ts";
import {
  type ApiMethod,
  type ParsedCommand,
  type ParsedEntry,
  type SingleMethod,
  singleCommand,
} from "./command.ts";
import {
  parseBlock,
  parseDisconnect,
  parseRefresh,
  parseSubscribe,
  parseUnblock,
  parseUnsubscribe,
} from "./order.ts";
import { parseBroadcast, parsePublish } from "./publish.ts";
import { parseChannelRequest, parseHistory } from "./read.ts";

/**
 * Centrifugo's methods that Dormouse doesn't support yet. They are listed so that a batch reports one of them together
 * with a known method instead of ignoring it.
 */
export const missingMethods = [
  "channels",
  "info",
  "rpc",
  "map_publish",
  "map_remove",
  "map_read_state",
  "map_read_stream",
  "map_stats",
  "map_clear",
  "shared_poll_publish",
] as const;

/** The answer's detail for a backend that calls one of {@link missingMethods}. */
export function missingDetail(method: string): string {
  return `${method} is a method of Centrifugo that Dormouse doesn't have yet`;
}

/** The answer's detail for a backend that names a method outside {@link apiMethods}, or none. */
export function unknownMethodDetail(name: string | undefined): string {
  const missing = missingMethods.find((known) => known === name);
  return missing === undefined ? "unknown method" : missingDetail(missing);
}

/** The methods of {@link ApiMethod}, by their names in paths and bodies. */
export const apiMethods = [
  "publish",
  "broadcast",
  "history",
  "history_remove",
  "presence",
  "presence_stats",
  "disconnect",
  "unsubscribe",
  "subscribe",
  "refresh",
  "block_user",
  "unblock_user",
] as const satisfies readonly ApiMethod[];

/**
 * Parses the parameters of a method, from whichever form of request (docs/protocol.md 6.2).
 *
 * @param params valid JSON, which is cut as text so that `data` stays as its sender wrote it (rule W2)
 */
export function parseCommand(
  method: ApiMethod,
  params: string,
  config: ChannelConfig,
): ParsedCommand {
  return method === "broadcast"
    ? parseBroadcast(params, config)
    : singleCommand(method, parseEntry(method, params, config));
}

/** Parses the parameters of a method for one channel, like {@link parseCommand}. */
export function parseEntry(
  method: SingleMethod,
  params: string,
  config: ChannelConfig,
): ParsedEntry {
  switch (method) {
    case "publish":
      return parsePublish(params, config);
    case "history":
      return parseHistory(params, config);
    case "disconnect":
      return parseDisconnect(params);
    case "unsubscribe":
      return parseUnsubscribe(params, config);
    case "subscribe":
      return parseSubscribe(params, config);
    case "refresh":
      return parseRefresh(params);
    case "block_user":
      return parseBlock(params);
    case "unblock_user":
      return parseUnblock(params);
    case "history_remove":
    case "presence":
    case "presence_stats":
      break;
  }
  return parseChannelRequest(method, params, config);
}
