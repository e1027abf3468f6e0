import { operationOf } from "./operations.ts";
import { carryOut, type OperationOutcome } from "../channel/carry-out.ts";
import type { Channel } from "../channel/channel.ts";
import type { ChannelAnswer, ChannelOperation } from "../contract/channel-call.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { FieldWriter } from "../protocol/fields.ts";
import { jsonOf } from "../protocol/json/encode.ts";
import { trustedJsonText } from "../protocol/json/text.ts";
import type { PresenceAnswer } from "../protocol/reply.ts";
import {
  changeFields,
  historyFields,
  presenceFields,
  presenceStatsFields,
} from "../protocol/reply-fields.ts";

/**
 * Carries out the operations of one call, in order. The results together stay within `limits.answerBytesMax`: a read
 * whose result would exceed that gets an error instead. The result of a change is always returned, because the change
 * took place.
 *
 * @param present who is present; absent if no operation asks that, or the namespace has no presence
 */
export function executeAll(
  channel: Channel,
  operations: readonly ChannelOperation[],
  nowMs: number,
  present?: PresenceAnswer,
): readonly ChannelAnswer[] {
  let bytes = 0;
  return operations.map((operation) => {
    const answer = execute(channel, operation, nowMs, present);
    if ("error" in answer || operationOf(operation.method).changes === true) return answer;
    bytes += answer.result.length;
    return bytes > limits.answerBytesMax ? { error: errorCodes.limitExceeded } : answer;
  });
}

/** Carries out one operation for a backend, and gives its answer as it is on the wire. */
export function execute(
  channel: Channel,
  operation: ChannelOperation,
  nowMs: number,
  present: PresenceAnswer = noPresence,
): ChannelAnswer {
  const { method } = operation;
  if (method !== "presence" && method !== "presence_stats")
    return answerOf(carryOut(channel, operation, nowMs));
  if (present.outcome === "failed") return { error: present.error };
  return method === "presence"
    ? resultOf(present.result, presenceFields)
    : resultOf(present.stats, presenceStatsFields);
}

const noPresence: PresenceAnswer = { outcome: "failed", error: errorCodes.notAvailable };

function answerOf(outcome: OperationOutcome): ChannelAnswer {
  switch (outcome.outcome) {
    case "failed":
      return { error: outcome.error };
    case "published":
      return resultOf(outcome.position ?? {}, changeFields);
    case "suppressed":
      return resultOf({ ...outcome, ...outcome.position }, changeFields);
    case "position-mismatch":
      return resultOf({ ...outcome.position, reason: "position_mismatch" }, changeFields);
    case "history":
      return resultOf(outcome, historyFields);
    case "result":
      return resultOf(undefined, outcome.fields);
    case "reply":
      // Only clients get it.
      return { error: errorCodes.internal };
    case "done":
      return resultOf({}, changeFields);
  }
}

function resultOf<M>(message: M, fields: (out: FieldWriter, message: M) => void): ChannelAnswer {
  return { result: trustedJsonText(jsonOf(message, fields)) };
}
