/** What a gateway reports of the way of a publication, and of one channel (rules Y1 and Y4). */
import type { SubscriberCounts } from "./object-state.ts";
import type { TrailAnswer, TrailQuery } from "./trail.ts";
import type { Tags } from "../../protocol/publication.ts";
import { countSubscribers, type OpenConnection } from "./inspection.ts";
import type { BatchTrail } from "./batch-trail.ts";
import type { Gateway } from "../../gateway/gateway.ts";

/** How far the gateway is with the channel, and when it took the publication. */
export function reportOfGateway(
  gateway: Gateway,
  batches: BatchTrail,
  { channel, offset, tags }: TrailQuery,
): Pick<TrailAnswer, "subscribers" | "position" | "isSending" | "taken"> & {
  readonly tags?: Tags;
} {
  const follower = gateway.follower(channel);
  const position = follower?.position;
  const taken = batches.find(channel, offset);
  return {
    subscribers: follower?.subscriptions.length ?? 0,
    isSending: follower !== undefined && (follower.sending || follower.collecting),
    ...(position === undefined ? {} : { position }),
    ...(taken === undefined ? {} : { taken }),
    ...(tags === undefined ? {} : { tags }),
  };
}

/** The subscribers to a channel on the gateway's sockets, and how far the gateway is. */
export function subscribersHere(
  gateway: Gateway,
  channel: string,
  connections: readonly OpenConnection[],
): SubscriberCounts {
  const follower = gateway.follower(channel);
  const counts = countSubscribers(channel, connections);
  const cursor = follower?.cursor;
  return {
    ...counts,
    pending: Math.max(counts.pending, follower?.pendingCount ?? 0),
    ...(cursor === undefined ? {} : { instance: cursor.instance, sequence: cursor.sequence }),
    ...(cursor?.position === undefined ? {} : { position: cursor.position }),
    isSending: follower?.sending ?? false,
    isCollecting: follower?.collecting ?? false,
  };
}
