import { operationOf } from "../access/operations.ts";
import type { Channel } from "../channel/channel.ts";
import { changeError, historyError } from "../channel/outcome-error.ts";
import type { PresenceAnswer } from "../channel/shared-presence.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import {
  encodeHistory,
  encodePosition,
  encodePresence,
  encodePresenceStats,
} from "../protocol/json/encode.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import { executeMap } from "./execute-map.ts";
import type { ChannelAnswer, ChannelCommand, HistoryQuery } from "../contract/channel-call.ts";

/**
 * Carries out the commands of one call, in order. The results together stay within `limits.answerBytesMax`: a read
 * whose result would exceed that gets an error instead. The result of a change is always returned, because the change
 * took place.
 *
 * @param present who is present; absent if no command asks that, or the namespace has no presence
 */
export function executeAll(
  channel: Channel,
  commands: readonly ChannelCommand[],
  nowMs: number,
  present: PresenceAnswer = noPresence,
): readonly ChannelAnswer[] {
  let bytes = 0;
  return commands.map((command) => {
    const answer = execute(channel, command, nowMs, present);
    if ("error" in answer || operationOf(command.method).changes === true) return answer;
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
  present: PresenceAnswer = noPresence,
): ChannelAnswer {
  switch (command.method) {
    case "publish":
      return publish(channel, command, nowMs);
    case "history":
      return readHistory(channel, command.request, nowMs);
    case "history_remove":
      return channel.removeHistory(nowMs) === "removed"
        ? { result: encodePosition(undefined) }
        : { error: errorCodes.notAvailable };
    case "presence":
      if (present.outcome === "failed") return { error: present.error };
      return { result: encodePresence(present.result) };
    case "presence_stats":
      if (present.outcome === "failed") return { error: present.error };
      return { result: encodePresenceStats(present.stats) };
    case "map_publish":
    case "map_remove":
    case "map_read_state":
    case "map_read_stream":
    case "map_stats":
    case "map_clear":
      return executeMap(channel, command, nowMs);
    case "shared_poll_publish":
      return channel.sharedPoll?.publish(command.request) === "taken"
        ? { result: encodePosition(undefined) }
        : { error: errorCodes.notAvailable };
  }
}

function publish(
  channel: Channel,
  { request, key }: Extract<ChannelCommand, { readonly method: "publish" }>,
  nowMs: number,
): ChannelAnswer {
  // A publication without a key has no place in a map (docs/protocol.md 3.4).
  if (channel.map !== undefined) return { error: errorCodes.badRequest };
  const outcome = channel.publish(request, undefined, nowMs, key);
  switch (outcome.outcome) {
    case "published":
    case "suppressed":
      return { result: encodePosition(outcome.position) };
    case "position-mismatch":
      return { result: encodeMismatch(outcome.position) };
    case "too-many-keys":
      return { error: changeError(outcome.outcome) };
  }
}

/** The answer to a publish whose `if_offset` isn't that of the top, which it tells (rule Z13). */
function encodeMismatch({ offset, epoch }: StreamPosition): JsonText {
  return trustedJsonText(
    `{"offset":${offset},"epoch":${JSON.stringify(epoch)},"suppressed":true,"suppress_reason":"position_mismatch"}`,
  );
}

const noPresence: PresenceAnswer = { outcome: "failed", error: errorCodes.notAvailable };

function readHistory(channel: Channel, query: HistoryQuery, nowMs: number): ChannelAnswer {
  const outcome = channel.history(query, nowMs);
  return outcome.outcome === "history"
    ? { result: encodeHistory(outcome) }
    : { error: historyError(outcome.outcome) };
}
