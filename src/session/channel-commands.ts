import { mayPublish, mayReadHistory, maySeePresence } from "../access/permissions.ts";
import { type KnownChannel, resolveChannel } from "../channel/channel-name.ts";
import type { Channel } from "../channel/channel.ts";
import { presence, presenceStats } from "../channel/presence.ts";
import type { ChannelConfig, Config } from "../config/config.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { ChannelRequest, HistoryRequest, PublishRequest } from "../protocol/command.ts";
import { acceptsData } from "../channel/data-format.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import type { SessionSnapshot } from "./snapshot.ts";
import { clientInfo } from "./subscription.ts";

/** What a subscribed or merely connected client may ask of the channel (reference 1.6). */
export interface Asking {
  readonly id: number;
  readonly snapshot: SessionSnapshot;
  readonly channel: Channel;
  readonly config: Config;
  readonly nowMs: number;
}

/**
 * Finds the channel a command names, or else what the command comes to. This object serves one channel; any other one is
 * unknown here (rule C6).
 */
export function named(
  name: string,
  channel: Channel,
  config: ChannelConfig,
): KnownChannel | Decision {
  if (name === "") return disconnectWith(disconnectCodes.badRequest);
  const resolved = resolveChannel(name, config);
  if (resolved.outcome === "bad-name") return failWith(errorCodes.badRequest);
  if (resolved.outcome === "unknown-namespace" || name !== channel.name) {
    return failWith(errorCodes.unknownChannel);
  }
  return resolved;
}

/** Publishes for a client. The frame with the publication must reach the publisher before this reply does (rule O4). */
export function publish(asking: Asking, request: PublishRequest): Decision {
  const { id, snapshot, channel, config, nowMs } = asking;
  const found = named(request.channel, channel, config.channel);
  if (found.outcome !== "resolved") return found;
  if (!mayPublish(found.options, callerOf(snapshot))) return failWith(errorCodes.permissionDenied);
  const { data } = request;
  if (data === undefined || request.type !== 0 || !acceptsData(found.options, data)) {
    return failWith(errorCodes.badRequest);
  }
  if (channel.hub.overloaded(nowMs)) return failWith(errorCodes.tooManyRequests);
  const info = clientInfo(snapshot, snapshot.subscription);
  const outcome = channel.publish({ ...plainPublication, data }, info, nowMs);
  switch (outcome.outcome) {
    case "published":
    case "suppressed":
      return { outcome: "reply", reply: { id, method: "publish" } };
    case "too-many-keys":
      return failWith(errorCodes.tooManyRequests);
  }
}

/** Who is subscribed. */
export function seePresence(
  asking: Asking,
  request: ChannelRequest,
  method: "presence" | "presence_stats",
): Decision {
  const { id, snapshot, channel, config } = asking;
  const found = named(request.channel, channel, config.channel);
  if (found.outcome !== "resolved") return found;
  if (!found.options.presence) return failWith(errorCodes.notAvailable);
  if (!maySeePresence(found.options, callerOf(snapshot)))
    return failWith(errorCodes.permissionDenied);
  const { recipients } = channel.hub;
  return method === "presence"
    ? { outcome: "reply", reply: { id, method, result: presence(recipients) } }
    : { outcome: "reply", reply: { id, method, result: presenceStats(recipients) } };
}

/** Reads the history, at most `client.history_max_publication_limit` publications at a time. */
export function readHistory(asking: Asking, request: HistoryRequest): Decision {
  const { id, snapshot, channel, config, nowMs } = asking;
  const found = named(request.channel, channel, config.channel);
  if (found.outcome !== "resolved") return found;
  if (!channel.hasHistory) return failWith(errorCodes.notAvailable);
  if (!mayReadHistory(found.options, callerOf(snapshot)))
    return failWith(errorCodes.permissionDenied);
  if (request.reverse && request.since?.offset === 0) return failWith(errorCodes.badRequest);
  const most = config.client.historyMaxPublicationLimit;
  const limit = request.limit < 0 ? most : Math.min(request.limit, most);
  const outcome = channel.history({ ...request, limit }, nowMs, config.client.queueMaxSizeBytes);
  switch (outcome.outcome) {
    case "history": {
      const { publications, position } = outcome;
      return {
        outcome: "reply",
        reply: { id, method: "history", result: { publications, position } },
      };
    }
    case "not-available":
      return failWith(errorCodes.notAvailable);
    case "unrecoverable-position":
      return failWith(errorCodes.unrecoverablePosition);
    case "too-large":
      return failWith(errorCodes.limitExceeded);
  }
}

/** A client's publication carries data and nothing else. */
const plainPublication = {
  skipHistory: false,
  idempotencyKey: "",
  version: 0n,
  versionEpoch: "",
  delta: false,
} as const;

function callerOf(snapshot: SessionSnapshot): {
  readonly user: string;
  readonly subscribed: boolean;
} {
  return { user: snapshot.claims?.user ?? "", subscribed: snapshot.subscription !== undefined };
}
