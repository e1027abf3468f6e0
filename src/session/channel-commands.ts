import { mayPublish, mayReadHistory, maySeePresence } from "./permissions.ts";
import type { KnownChannel } from "../channel/channel-name.ts";
import { acceptsData } from "../channel/publication-request.ts";
import type { Config } from "../config/config.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { ChannelRequest, HistoryRequest, PublishRequest } from "../protocol/command.ts";
import type { Channels } from "./ports.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";
import { clientInfo, type Subscription } from "./subscription.ts";

/** What a client asks of a channel, whether it is subscribed to it or merely connected (docs/protocol.md 1.6). */
export interface CommandContext {
  readonly id: number;
  readonly session: SessionIdentity;
  readonly channels: Channels;
  readonly config: Config;
  /** The client's own to the channel; absent when it has none. */
  readonly subscription: Subscription | undefined;
  readonly nowMs: number;
}

/** Takes what the command came to, at once or when the channel's object has answered. */
export type DecisionDone = (decision: Decision) => void;

/** Finds the channel a command names, or else what the command comes to. */
export function named(name: string, channels: Channels): KnownChannel | Decision {
  if (name === "") return disconnectWith(disconnectCodes.badRequest);
  const resolved = channels.find(name);
  if (resolved.outcome === "bad-name") return failWith(errorCodes.badRequest);
  if (resolved.outcome === "unknown-namespace") return failWith(errorCodes.unknownChannel);
  return resolved;
}

/** Publishes for a client. The frame with the publication must reach the publisher before this reply does (rule O4). */
export function publish(
  asking: CommandContext,
  request: PublishRequest,
  decide: DecisionDone,
): void {
  const { id, session, channels, subscription, nowMs } = asking;
  const found = named(request.channel, channels);
  if (found.outcome !== "resolved") {
    decide(found);
    return;
  }
  const { data } = request;
  if (!mayPublish(found.options, callerOf(asking))) decide(failWith(errorCodes.permissionDenied));
  else if (data === undefined || request.type !== 0 || !acceptsData(found.options, data)) {
    decide(failWith(errorCodes.badRequest));
  } else {
    const info = subscription?.info ?? clientInfo(session);
    channels.publish(request.channel, data, info, subscription, nowMs, (answer) => {
      if (answer.outcome === "failed") decide(failWith(answer.error));
      else decide({ outcome: "reply", reply: { id, method: "publish" } });
    });
  }
}

/** Who is subscribed. */
export function seePresence(
  asking: CommandContext,
  request: ChannelRequest,
  method: "presence" | "presence_stats",
  decide: DecisionDone,
): void {
  const { id, channels } = asking;
  const found = named(request.channel, channels);
  if (found.outcome !== "resolved") decide(found);
  else if (!found.options.presence) decide(failWith(errorCodes.notAvailable));
  else if (!maySeePresence(found.options, callerOf(asking))) {
    decide(failWith(errorCodes.permissionDenied));
  } else if (method === "presence") {
    channels.presence(request.channel, (answer) => {
      if (answer.outcome === "failed") decide(failWith(answer.error));
      else decide({ outcome: "reply", reply: { id, method, result: answer.result } });
    });
  } else {
    channels.presenceStats(request.channel, (answer) => {
      if (answer.outcome === "failed") decide(failWith(answer.error));
      else decide({ outcome: "reply", reply: { id, method, result: answer.result } });
    });
  }
}

/** Reads the history, at most `client.history_max_publication_limit` publications at a time. */
export function readHistory(
  asking: CommandContext,
  request: HistoryRequest,
  decide: DecisionDone,
): void {
  const { id, channels, config, nowMs } = asking;
  const found = named(request.channel, channels);
  if (found.outcome !== "resolved") {
    decide(found);
    return;
  }
  const { historySize, historyTtlMs } = found.options;
  if (historySize === 0 || historyTtlMs === 0) decide(failWith(errorCodes.notAvailable));
  else if (!mayReadHistory(found.options, callerOf(asking))) {
    decide(failWith(errorCodes.permissionDenied));
  } else if (request.reverse && request.since?.offset === 0) {
    decide(failWith(errorCodes.badRequest));
  } else {
    const most = config.client.historyMaxPublicationLimit;
    const limit = request.limit < 0 ? most : Math.min(request.limit, most);
    const { since, reverse } = request;
    const query = { limit, reverse, ...(since === undefined ? {} : { since }) };
    const bytesMax = config.client.queueMaxSizeBytes;
    channels.history(request.channel, query, bytesMax, nowMs, (answer) => {
      if (answer.outcome === "failed") decide(failWith(answer.error));
      else {
        const { publications, position } = answer;
        const result = { publications, position };
        decide({ outcome: "reply", reply: { id, method: "history", result } });
      }
    });
  }
}

function callerOf({ session, subscription }: CommandContext): {
  readonly user: string;
  readonly subscribed: boolean;
} {
  return { user: session.claims?.user ?? "", subscribed: subscription !== undefined };
}
