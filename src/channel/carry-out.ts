import {
  type ChannelOperation,
  type ClientOperation,
  type FailedReply,
  type OperationReply,
} from "../contract/channel-call.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Channel, PublishOutcome } from "./channel.ts";
import type { HistoryOutcome } from "./history.ts";
import { isMapOperation } from "../features/maps/map-call.ts";
import { carryOutOnMap } from "../features/maps/map-operations.ts";

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
  return orFailed(
    isMapOperation(operation)
      ? carryOutOnMap(channel, operation, nowMs, roomBytes)
      : carryOutOnChannel(channel, operation, nowMs, roomBytes),
  );
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
  if (outcome.outcome === "failed" || outcome.outcome === "history" || outcome.outcome === "page")
    return outcome;
  const { instance, sequence } = channel.relay;
  return { outcome: "published", instance, sequence };
}

function carryOutOnChannel(
  channel: Channel,
  operation: Exclude<ChannelOperation, { readonly method: `map_${string}` }>,
  nowMs: number,
  roomBytes: number,
): PublishOutcome | HistoryOutcome | Done {
  switch (operation.method) {
    case "publish":
      // A publication without a key has no place in a map (docs/protocol.md 3.4).
      if (channel.map !== undefined) return { outcome: "misplaced" };
      return channel.publish(operation.request, operation.info, nowMs, operation.key);
    case "history": {
      const bytesMax = Math.min(operation.bytesMax ?? limits.answerBytesMax, roomBytes);
      return channel.history(operation.request, nowMs, bytesMax);
    }
    case "history_remove":
      return channel.removeHistory(nowMs) === "removed" ? done : notAvailable;
    case "shared_poll_publish":
      return channel.parts.some((part) => part.carryOut?.(operation) === "done")
        ? done
        : notAvailable;
    case "presence":
    case "presence_stats":
      // The object asks for these before, because gateways answer them, too.
      return notAvailable;
    default:
      // A newer release may send an operation that this release doesn't know yet, and may send it again (rule V1).
      return { outcome: "unknown" };
  }
}

type Done =
  | { readonly outcome: "done" }
  | { readonly outcome: "misplaced" }
  | { readonly outcome: "unknown" };

const done = { outcome: "done" } as const;
const notAvailable = { outcome: "not-available" } as const;

/** Why an operation did nothing, as clients and backends alike are told. */
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
