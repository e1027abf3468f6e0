import type { ChannelOperation, FailedReply, OperationReply } from "../contract/channel-call.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { Channel } from "./channel.ts";
import { changeError, historyError } from "./outcome-error.ts";
import type { Recovery } from "./recovery.ts";

/**
 * Carries out what a client asks of a channel.
 *
 * @param roomBytes how large the publications of the reply may be, where the operation itself allows more
 */
export function carryOut(
  channel: Channel,
  operation: ChannelOperation,
  nowMs: number,
  roomBytes = Number.POSITIVE_INFINITY,
): OperationReply {
  if (operation.method === "publish") {
    // A publication without a key has no place in a map.
    if (channel.map !== undefined) return failed(errorCodes.badRequest);
    const { outcome } = channel.publish(operation.request, operation.info, nowMs);
    return outcome === "too-many-keys" ? failed(changeError(outcome)) : published(channel);
  }
  if (operation.method === "history") {
    const bytesMax = Math.min(operation.bytesMax, roomBytes);
    const outcome = channel.history(operation.request, nowMs, bytesMax);
    return outcome.outcome === "history" ? outcome : failed(historyError(outcome.outcome));
  }
  const { map } = channel;
  if (map === undefined) return failed(errorCodes.notAvailable);
  switch (operation.method) {
    case "map_publish":
    case "map_remove": {
      const { outcome } = map.change(operation, operation.info, nowMs);
      return outcome === "full" || outcome === "too-many-keys"
        ? failed(changeError(outcome))
        : published(channel);
    }
    case "map_state": {
      const page = map.page(operation.request, nowMs, Math.min(operation.bytesMax, roomBytes));
      return page.outcome === "unrecoverable" ? unrecoverable : { ...page, outcome: "page" };
    }
    case "map_stream": {
      const { since, limit } = operation.request;
      const bytesMax = Math.min(operation.bytesMax, roomBytes);
      return changesReply(map.changesAfter(since, limit, nowMs, bytesMax));
    }
  }
}

function published({ relay: { instance, sequence } }: Channel): OperationReply {
  return { outcome: "published", instance, sequence };
}

function changesReply(read: Recovery & { readonly position: StreamPosition }): OperationReply {
  if (read.outcome === "unrecoverable") return unrecoverable;
  const { publications, position } = read;
  return { outcome: "history", publications, position };
}

function failed(error: ErrorCode): FailedReply {
  return { outcome: "failed", error };
}

const unrecoverable: FailedReply = {
  outcome: "failed",
  error: errorCodes.unrecoverablePosition,
};
