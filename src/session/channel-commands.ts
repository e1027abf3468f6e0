/**
 * The commands that change nothing in the session: publish, presence, presence_stats and history (docs/protocol.md
 * 1.6). A client may send them for channels to which it isn't subscribed.
 */
import { errorOf, type PublicationRequest } from "../contract/channel-call.ts";
import {
  callerOf,
  findChannel,
  mayAsk,
  mayPublish,
  mayReadHistory,
  maySeePresence,
  notPermitted,
} from "./grant.ts";
import { acceptsData, clientPublication } from "../channel/publication-request.ts";
import type { HookTarget } from "../config/config.ts";
import { parsePublishResult } from "../hooks/response.ts";
import { errorCodes } from "../protocol/codes.ts";
import { emptyPayload, type Payload } from "../protocol/payload.ts";
import type { ChannelRequest, HistoryRequest, PublishRequest } from "../protocol/command.ts";
import type { CommandSession } from "./ports.ts";
import {
  badRequest,
  type Decision,
  type DecisionDone,
  failWith,
  refuseByOptions,
  refuseWith,
} from "./decision.ts";
import { askHook, refusedByHook, unusableResult } from "./hook.ts";
import { changeMap } from "./map-commands.ts";
import { clientInfo } from "./subscription.ts";
import { mayRead, readInVain } from "./vain-reads.ts";

/** Publishes for a client. The publisher gets the publication before this reply, if it is subscribed (rule O4). */
export function publish(
  session: CommandSession,
  id: number,
  request: PublishRequest,
  nowMs: number,
  done: DecisionDone,
): void {
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") {
    done(found);
    return;
  }
  const { data = emptyPayload } = request;
  const { publishHook, map, sharedPoll } = found.options;
  if (map !== undefined) {
    changeMap(session, id, request, found, map, nowMs, done);
    return;
  }
  const caller = callerOf(session, request.channel, found);
  const isAllowed =
    publishHook === undefined ? mayPublish(found.options, caller) : mayAsk(found, caller);
  if (!isAllowed) done(notPermitted(session, "publish", request.channel));
  else if (sharedPoll !== undefined) {
    const reason = "only backends publish to a shared poll";
    done(refuseWith(errorCodes.badRequest, "SP11", reason));
  } else if (request.type !== 0 || !acceptsData(found.options, data)) done(badRequest);
  else if (publishHook === undefined) {
    publishTo(session, id, request.channel, clientPublication(data), nowMs, done);
  } else publishByHook(session, id, { ...request, data }, publishHook, nowMs, done);
}

/** Whether a publish to a channel asks a backend, so that later commands for the channel have to wait (rule Q3). */
export function asksBeforePublish({ context }: CommandSession, channel: string): boolean {
  const found = context.channels.find(channel);
  if (found.outcome !== "resolved") return false;
  const { publishHook, map } = found.options;
  return map === undefined
    ? publishHook !== undefined
    : (map.publishHook ?? map.removeHook) !== undefined;
}

function publishTo(
  session: CommandSession,
  id: number,
  channel: string,
  request: PublicationRequest,
  nowMs: number,
  done: DecisionDone,
): void {
  const subscription = session.subscriptions.get(channel);
  const info = subscription?.info ?? clientInfo(session.identity);
  const { traceparent } = session.identity;
  const traced = traceparent === undefined ? request : { ...request, traceparent };
  const operation = { method: "publish", request: traced, info } as const;
  session.context.channels.request(channel, operation, subscription, nowMs, (reply) => {
    if (reply.outcome === "published") done({ outcome: "reply", reply: { id, method: "publish" } });
    else done(failWith(errorOf(reply)));
  });
}

/** Lets a backend decide on a publish, in place of the namespace's permissions (rule Q2). */
function publishByHook(
  session: CommandSession,
  id: number,
  { channel, data }: { readonly channel: string; readonly data: Payload },
  target: HookTarget,
  nowMs: number,
  done: DecisionDone,
): void {
  askHook(session, target, { hook: "publish", channel, data }, nowMs, (answer, answeredMs) => {
    if (answer.outcome !== "result") {
      done(refusedByHook(answer, target));
      return;
    }
    const read = parsePublishResult(answer.result, data);
    const known = session.context.channels.find(channel);
    if (read.outcome === "invalid") done(unusableResult(read.reason, target));
    else if (known.outcome !== "resolved" || !acceptsData(known.options, read.request.data))
      done(unusableResult("the namespace doesn't accept such data", target));
    else publishTo(session, id, channel, read.request, answeredMs, done);
  });
}

/** Answers `presence` or `presence_stats`. */
export function seePresence(
  session: CommandSession,
  id: number,
  request: ChannelRequest,
  method: "presence" | "presence_stats",
  nowMs: number,
  done: DecisionDone,
): void {
  const { channels } = session.context;
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") done(found);
  else if (!found.options.presence) done(switchedOff("presence"));
  else if (!maySeePresence(found.options, callerOf(session, request.channel, found))) {
    done(notPermitted(session, "presence", request.channel));
  } else if (!mayRead(session, nowMs)) done(failWith(errorCodes.tooManyRequests));
  else {
    channels.presence(request.channel, {
      client: session,
      codec: method === "presence" ? session.codec : undefined,
      done: (answer) => {
        if (answer.outcome === "failed") done(failWith(answer.error));
        else if (method === "presence") {
          done({ outcome: "reply", reply: { id, method, result: answer.result } });
        } else done({ outcome: "reply", reply: { id, method, result: answer.stats } });
      },
    });
  }
}

function switchedOff(what: "presence" | "history"): Decision {
  return refuseByOptions(errorCodes.notAvailable, "W1", `${what} isn't switched on`);
}

/** Reads the history, at most `client.history_max_publication_limit` publications at a time. */
export function readHistory(
  session: CommandSession,
  id: number,
  request: HistoryRequest,
  nowMs: number,
  done: DecisionDone,
): void {
  const { channels, config } = session.context;
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") {
    done(found);
    return;
  }
  const { historySize, historyTtlMs } = found.options;
  const isFiltered = session.subscriptions.get(request.channel)?.serverFiltered;
  if (historySize === 0 || historyTtlMs === 0) done(switchedOff("history"));
  else if (isFiltered === true) {
    const reason = "the subscription has a server_tags_filter";
    done(refuseWith(errorCodes.permissionDenied, "A17", reason));
  } else if (!mayReadHistory(found.options, callerOf(session, request.channel, found))) {
    done(notPermitted(session, "history", request.channel));
  } else if (request.reverse && request.since?.offset === 0) done(badRequest);
  else if (!mayRead(session, nowMs)) done(failWith(errorCodes.tooManyRequests));
  else {
    const most = config.client.historyMaxPublicationLimit;
    const limit = request.limit < 0 ? most : Math.min(request.limit, most);
    const { since, reverse } = request;
    const query = { limit, reverse, ...(since === undefined ? {} : { since }) };
    const bytesMax = config.client.queueMaxSizeBytes;
    const operation = { method: "history", request: query, bytesMax } as const;
    channels.request(request.channel, operation, undefined, nowMs, (reply) => {
      if (reply.outcome === "history") {
        const { publications, position } = reply;
        const result = { publications, position };
        done({ outcome: "reply", reply: { id, method: "history", result } });
        return;
      }
      const error = errorOf(reply);
      // It was read until it was too large.
      if (error.code === errorCodes.limitExceeded.code) readInVain(session, nowMs);
      done(failWith(error));
    });
  }
}
