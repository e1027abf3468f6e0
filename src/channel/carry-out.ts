import type {
  ChannelOperation,
  ClientOperation,
  FailedReply,
  OperationReply,
} from "../contract/channel-call.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { PartOutcome } from "./channel-part.ts";
import type { Channel } from "./channel.ts";

/**
 * Carries out an operation on its channel (docs/protocol.md 6.2), for clients and backends alike. Permissions are for
 * clients, and are checked before: a backend may use every feature that the namespace has switched on.
 *
 * @param roomBytes how large the publications of the reply may be, where the operation itself allows more
 */
export function carryOut(
  channel: Channel,
  operation: ChannelOperation,
  nowMs: number,
  roomBytes = Number.POSITIVE_INFINITY,
) {
  const { decide } = channel;
  if (decide === undefined)
    return orFailed(carryOutOnChannel(channel, operation, nowMs, roomBytes));
  const next = (decided: ChannelOperation) => carryOutOnChannel(channel, decided, nowMs, roomBytes);
  return orFailed(decide(operation, nowMs, next));
}

/** The outcome of an operation on a channel. */
export type OperationOutcome = ReturnType<typeof carryOut>;

/** Carries out an operation for a client: for a session here, or as the request of a gateway. */
export function replyTo(
  channel: Channel,
  operation: ClientOperation,
  nowMs: number,
  roomBytes?: number,
): OperationReply {
  const outcome = carryOut(channel, operation, nowMs, roomBytes);
  if (outcome.outcome === "failed" || outcome.outcome === "history") return outcome;
  if (outcome.outcome === "reply") return outcome.reply;
  const { instance, sequence } = channel.relay;
  return { outcome: "published", instance, sequence };
}

function carryOutOnChannel(
  channel: Channel,
  operation: ChannelOperation,
  nowMs: number,
  roomBytes: number,
): PartOutcome {
  const { method } = operation;
  if (method === "publish") {
    // A publication without a key has no place in a map (docs/protocol.md 3.4).
    if (channel.keys !== undefined) return { outcome: "misplaced" };
    return channel.publish(operation.request, operation.info, nowMs, operation.key);
  }
  if (method === "history") {
    const bytesMax = Math.min(operation.bytesMax ?? limits.answerBytesMax, roomBytes);
    return channel.history(operation.request, nowMs, bytesMax);
  }
  if (method === "history_remove")
    return channel.removeHistory(nowMs) === "removed" ? done : notAvailable;
  // The object asks for these before, because gateways answer them, too.
  if (method === "presence" || method === "presence_stats") return notAvailable;
  for (const part of channel.parts) {
    const outcome = part.carryOut?.(operation, nowMs, roomBytes);
    if (outcome !== undefined) return outcome;
  }
  // A newer release may send an operation that this release doesn't know yet, and may send it again (rule V1).
  return { outcome: "unknown" };
}

const done = { outcome: "done" } as const;
const notAvailable = { outcome: "not-available" } as const;

/** The error that clients and backends receive if an operation did nothing. */
const failures = {
  full: errorCodes.limitExceeded,
  "too-many-keys": errorCodes.tooManyRequests,
  "not-available": errorCodes.notAvailable,
  unrecoverable: errorCodes.unrecoverablePosition,
  "unrecoverable-position": errorCodes.unrecoverablePosition,
  "too-large": errorCodes.limitExceeded,
  misplaced: errorCodes.badRequest,
  unknown: errorCodes.internal,
} as const satisfies Readonly<Record<string, ErrorCode>>;

interface Failure {
  readonly outcome: keyof typeof failures;
}

function orFailed<Outcome extends { readonly outcome: string }>(
  outcome: Outcome,
): Exclude<Outcome, Failure> | FailedReply {
  if (hasSucceeded(outcome)) return outcome;
  const errors: Readonly<Record<string, ErrorCode>> = failures;
  return { outcome: "failed", error: errors[outcome.outcome] ?? errorCodes.internal };
}

function hasSucceeded<Outcome extends { readonly outcome: string }>(
  outcome: Outcome,
): outcome is Exclude<Outcome, Failure> {
  return !Object.hasOwn(failures, outcome.outcome);
}
