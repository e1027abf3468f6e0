/** What a channel's own object reports of the way of a publication, and of itself (rules Y1 and Y4). */
import type { Channel } from "../../channel/channel.ts";
import type { ChannelState, SubscriberCounts } from "./object-state.ts";
import type { KnownChange, KnownPublication, TrailAnswer, TrailQuery } from "./trail.ts";
import type { StoredPublication } from "../../channel/history-table.ts";
import { changeTags, withoutChangeTags } from "../../protocol/change-tags.ts";
import type { Tags } from "../../protocol/publication.ts";
import type { CallTrails } from "./call-trail.ts";
import type { PublicationTrail } from "./publication-trail.ts";
import { countSubscribers, type OpenConnection } from "./inspection.ts";
import type { BatchTrail } from "./batch-trail.ts";
import type { Gateway } from "../../gateway/gateway.ts";

/** What the channel knows of the publication at an offset, from memory or else from the history. */
export function reportOfChannel(
  channel: Channel,
  { publications, calls }: ChannelTrails,
  offset: number,
  nowMs: number,
): Pick<TrailAnswer, "subscribers" | "position" | "isSending" | "channel"> & {
  readonly tags?: Tags;
} {
  const { hub, top, relay, hasHistory } = channel;
  const isPublished = top !== undefined && offset <= top.offset;
  const stored = channel.stored.find(offset, nowMs);
  const remembered = isPublished ? publications.find(offset) : undefined;
  const publication = publicationOf(remembered, stored);
  const sentTags = stored && sentTagsOf(stored.publication.tags);
  const tags = sentTags === undefined ? {} : { tags: sentTags };
  return {
    subscribers: hub.shownSize,
    isSending: hub.sending || hub.collecting,
    ...(top === undefined ? {} : { position: top }),
    ...tags,
    channel: {
      hasHistory,
      ...(top === undefined ? {} : { top }),
      ...(publication === undefined ? {} : { publication }),
      ...tags,
      gateways: calls.progress(relay, remembered?.sequence, nowMs),
    },
  };
}

function publicationOf(
  remembered: (KnownPublication & { readonly sequence: number }) | undefined,
  stored: StoredPublication | undefined,
): KnownPublication | undefined {
  const change = stored && changeOf(stored.publication.tags);
  const more = {
    ...(stored?.publication.grown !== undefined && { isAppended: true as const }),
    ...(change && { change }),
  };
  if (remembered !== undefined) {
    const { sequence: _, ...known } = remembered;
    return { ...known, ...more };
  }
  if (stored === undefined) return undefined;
  const { info } = stored.publication;
  const by = info === undefined ? {} : { client: info.client, user: info.user };
  return { publishedAtMs: stored.timeMs, by, stored: true, ...more };
}

/** The last change of a publication with these tags; undefined if there was none (rule Y11). */
function changeOf(tags: Tags = noTags): KnownChange | undefined {
  for (const kind of ["erased", "deleted", "updated"] as const) {
    const offset = tags[changeTags[kind]];
    if (offset !== undefined)
      return { kind: kind === "updated" ? "edited" : kind, offset: Number(offset) };
  }
  return undefined;
}

/** The tags with which a publication was sent; undefined if a change may have replaced them, or has taken them away. */
function sentTagsOf(tags: Tags = noTags): Tags | undefined {
  const isReplaced = tags[changeTags.replaced] !== undefined;
  const change = changeOf(tags);
  if (isReplaced || change?.kind === "edited" || change?.kind === "erased") return undefined;
  if (change === undefined) return tags;
  // Deleted: an edit before that may have replaced them.
  return tags[changeTags.version] === "2" ? (withoutChangeTags(tags) ?? noTags) : undefined;
}

/** The channel's live state, apart from what only its object knows. */
export function channelState(
  channel: Channel,
  calls: CallTrails,
  nowMs: number,
): Omit<ChannelState, "isKnown" | "isCommitting" | "waitingBytes"> {
  const { name, top, newestMs, options, relay } = channel;
  const historySize = channel.hasHistory ? options.historySize : 0;
  // Nobody reads the changes of an ephemeral map, which are in memory.
  const readable = historySize > 0 ? channel.stored.readable(nowMs) : undefined;
  return {
    name,
    ...(top === undefined ? {} : { top }),
    ...(newestMs === undefined ? {} : { newestMs }),
    publications: readable === undefined ? 0 : readable.last - readable.first + 1,
    historySize,
    instance: relay.instance,
    sequence: relay.sequence,
    gateways: calls.progress(relay, undefined, nowMs),
  };
}

/** The subscribers on the sockets of the channel's own object. */
export function ownSubscribers(
  { name, hub, top }: Channel,
  connections: readonly OpenConnection[],
): SubscriberCounts {
  return {
    ...countSubscribers(name, connections),
    ...(top === undefined ? {} : { position: top }),
    isSending: hub.sending,
    isCollecting: hub.collecting,
  };
}

/** What a channel's object remembers beside what all objects do. */
export interface ChannelTrails {
  readonly publications: PublicationTrail;
  readonly calls: CallTrails;
}

const noTags: Tags = {};

/** The reports of a gateway about the way of a publication, and about one channel (rules Y1 and Y4). */

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
