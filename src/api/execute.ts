import { type Channel, historyError } from "../channel/channel.ts";
import { type GatheredPresence, presence, presenceStats } from "../channel/presence.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import {
  encodeHistory,
  encodePosition,
  encodePresence,
  encodePresenceStats,
} from "../protocol/json/encode.ts";
import type { ChannelAnswer, ChannelCommand, HistoryQuery } from "../contract/channel-call.ts";

/**
 * Carries out the commands of one call, in order. The results together stay within `limits.answerBytesMax`: a read
 * whose result would exceed that gets an error instead. The result of a publish is always returned, because the publish
 * took place.
 *
 * @param others the clients present on gateways; absent if no gateway was asked
 */
export function executeAll(
  channel: Channel,
  commands: readonly ChannelCommand[],
  nowMs: number,
  others?: GatheredPresence,
): readonly ChannelAnswer[] {
  let bytes = 0;
  return commands.map((command) => {
    const answer = execute(channel, command, nowMs, others);
    if ("error" in answer || command.method === "publish") return answer;
    bytes += answer.result.length;
    return bytes > limits.answerBytesMax ? { error: errorCodes.limitExceeded } : answer;
  });
}

/**
 * Carries out one command of the HTTP API on its channel (docs/protocol.md 6.2). A backend may use every feature that
 * the namespace has switched on: permissions are for clients.
 */
export function execute(
  channel: Channel,
  command: ChannelCommand,
  nowMs: number,
  others?: GatheredPresence,
): ChannelAnswer {
  switch (command.method) {
    case "publish": {
      const outcome = channel.publish(command.request, undefined, nowMs);
      if (outcome.outcome === "too-many-keys") return { error: errorCodes.tooManyRequests };
      return { result: encodePosition(outcome.position) };
    }
    case "history":
      return readHistory(channel, command.request, nowMs);
    case "history_remove":
      return channel.removeHistory(nowMs) === "removed"
        ? { result: encodePosition(undefined) }
        : { error: errorCodes.notAvailable };
    case "presence":
      if (!channel.options.presence) return { error: errorCodes.notAvailable };
      return { result: encodePresence(presence(channel.hub.subscribers, others)) };
    case "presence_stats":
      if (!channel.options.presence) return { error: errorCodes.notAvailable };
      return { result: encodePresenceStats(presenceStats(channel.hub.subscribers, others)) };
  }
}

function readHistory(channel: Channel, query: HistoryQuery, nowMs: number): ChannelAnswer {
  const outcome = channel.history(query, nowMs);
  return outcome.outcome === "history"
    ? { result: encodeHistory(outcome) }
    : { error: historyError(outcome.outcome) };
}
