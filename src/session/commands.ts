/**
 * The commands that change nothing in the session: publish, presence, presence_stats and history, which a client may
 * send for channels to which it isn't subscribed (docs/protocol.md 1.6), and `rpc` and `send`, which ask a backend and
 * nothing else (docs/protocol.md 7).
 */
import {
  type ClientOperation,
  errorOf,
  type OperationReply,
  type PublicationRequest,
} from "../contract/channel-call.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import { callerOf, findChannel } from "./grant.ts";
import { type May, mayCall, mayPublish, mayReadHistory, maySeePresence } from "./may.ts";
import { uuidOfClient } from "../contract/object-names.ts";
import { traced } from "../contract/traceparent.ts";
import { acceptsData, plainPublication } from "../channel/publication-request.ts";
import type { HookTarget } from "../config/config.ts";
import { errorCodes, disconnectCodes } from "../protocol/codes.ts";
import { emptyPayload, type Payload } from "../protocol/payload.ts";
import type {
  ChannelRequest,
  HistoryRequest,
  PublishRequest,
  RpcRequest,
} from "../protocol/command.ts";
import { ask, type CommandSession, type RunningCommand, type TurnTo, typeOf } from "./ports.ts";
import {
  badRequest,
  type Decision,
  type DecisionDone,
  failWith,
  refuse,
  disconnectWith,
  silent,
  whyFailed,
} from "./decision.ts";
import { parseSentCall } from "../protocol/sent-call.ts";
import { clientInfo } from "./subscription.ts";
import { mayRead, readInVain } from "./rate-limit.ts";

/**
 * Publishes for a client. The publisher gets the publication before this reply, if it is subscribed (rule O4).
 *
 * @param decided whether it may, where a dialect decides; undefined: the namespace does
 */
export function publish(command: RunningCommand<PublishRequest>, decided?: May): void {
  const { session, request, done } = command;
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") {
    done(found);
    return;
  }
  const { data = emptyPayload } = request;
  const type = typeOf(session, found.options);
  if (type?.publish !== undefined) {
    type.publish(command, found);
    return;
  }
  const may = decided ?? mayPublish(found, callerOf(session, request.channel));
  if (may.allowed === false) done(refuse(may));
  else if (request.type !== 0 || !acceptsData(found.options, data)) done(badRequest);
  else if (may.allowed === "asked") publishByHook(command, data, may.by);
  else publishTo(command, passingPublication(command, plainPublication(data)));
}

/** A publication that a dialect only passes on to the other subscribers; any other one as it is. */
function passingPublication(
  { session, request: { passing } }: RunningCommand<PublishRequest>,
  publication: PublicationRequest,
): PublicationRequest {
  if (passing === undefined) return publication;
  const except = uuidOfClient(session.identity.client);
  return { ...publication, tags: passing, skipHistory: true, except };
}

/** Whether a publish to a channel asks a backend, so that later commands for the channel have to wait (rule Q3). */
export function asksBeforePublish(session: CommandSession, channel: string): boolean {
  const found = session.context.channels.resolve(channel);
  if (found.outcome !== "resolved") return false;
  const { options } = found;
  const type = typeOf(session, options);
  return type?.asksBeforePublish?.(options) ?? options.publishHook !== undefined;
}

function publishTo(command: RunningCommand<PublishRequest>, request: PublicationRequest): void {
  const { id, done } = command;
  const operation = (info: ClientInfo) => ({ method: "publish", request, info }) as const;
  requestTraced(command, command.request.channel, operation, (reply) => {
    if (reply.outcome === "published") done({ outcome: "reply", reply: { id, method: "publish" } });
    else done(failWith(errorOf(reply)));
  });
}

/** Lets a backend decide on a publish, in place of the namespace's permissions (rule Q2). */
function publishByHook(
  command: RunningCommand<PublishRequest>,
  data: Payload,
  target: HookTarget,
): void {
  const { session, request, nowMs, done } = command;
  const question = { channel: request.channel, data };
  ask(session, { hook: "publish", question, target, nowMs }, (answer, answeredMs) => {
    if (answer.outcome === "granted") publishTo({ ...command, nowMs: answeredMs }, answer.granted);
    else done(answer);
  });
}

/** Answers `presence` or `presence_stats`. */
export function seePresence(
  { session, id, request, nowMs, done }: RunningCommand<ChannelRequest>,
  method: "presence" | "presence_stats",
): void {
  const { channels } = session.context;
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") {
    done(found);
    return;
  }
  const may = maySeePresence(found, callerOf(session, request.channel));
  if (!may.allowed) done(refuse(may));
  else if (!mayRead(session, nowMs)) done(failWith(errorCodes.tooManyRequests));
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

/** Reads the history, at most `client.history_max_publication_limit` publications at a time. */
export function readHistory({
  session,
  id,
  request,
  nowMs,
  done,
}: RunningCommand<HistoryRequest>): void {
  const { channels, config } = session.context;
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") {
    done(found);
    return;
  }
  const may = mayReadHistory(found, callerOf(session, request.channel));
  if (!may.allowed) done(refuse(may));
  else if (request.reverse && request.since?.offset === 0) done(badRequest);
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

/** Calls a method of a backend. Calls of one client are under way together, and end in any order. */
export function callMethod(command: RunningCommand<RpcRequest>, turnTo: TurnTo): void {
  const { session, id, request, nowMs, done } = command;
  const { method, data } = request;
  const own = session.context.clientMethods?.get(method);
  if (own !== undefined) {
    own.carryOut(command, turnTo);
    return;
  }
  const { rpc } = session.context.config;
  if (rpc.pingEnabled && method === "ping") {
    done({ outcome: "reply", reply: { id, method: "rpc" } });
    return;
  }
  const may = mayCall(method, rpc);
  if (may.allowed === false) {
    done(refuse(may));
    return;
  }
  const question = { method, ...(data === undefined ? {} : { data }) };
  ask(session, { hook: "rpc", question, target: may.by, nowMs }, (answer) => {
    if (answer.outcome !== "granted") done(answer);
    else {
      const result = answer.granted === undefined ? {} : { data: answer.granted };
      done({ outcome: "reply", reply: { id, method: "rpc", ...result } });
    }
  });
}

/**
 * Passes on what a client sends. It has no id, so nothing can be answered; a backend may disconnect the client. Messages
 * of one client may reach the backend in another order.
 */
export function passMessage(
  { session, nowMs, done }: Omit<RunningCommand<never>, "id" | "request">,
  data: Payload | undefined,
  turnTo: TurnTo,
): void {
  const { clientMethods } = session.context;
  const request = clientMethods && parseSentCall(data);
  const own = request && clientMethods.get(request.method);
  if (own?.bySend === true && request !== undefined) {
    const carriedOut: DecisionDone = (decision) => done(refusedSend(session, decision));
    own.carryOut({ session, id: 0, request, nowMs, done: carriedOut }, turnTo);
    return;
  }
  const target = session.context.config.hooks.message;
  if (target === undefined) {
    done(disconnectWith(disconnectCodes.notAvailable, "W1", "send isn't available"));
    return;
  }
  const question = data === undefined ? {} : { data };
  ask(session, { hook: "message", question, target, nowMs }, (answer) => {
    if (answer.outcome === "disconnect") {
      done(answer);
      return;
    }
    done(answer.outcome === "error" ? refusedSend(session, answer) : silent);
  });
}

/** A client gets no answer to a message: an error goes to the log only. */
function refusedSend(session: CommandSession, decision: Decision): Decision {
  if (decision.outcome === "disconnect") return decision;
  if (decision.outcome === "error") {
    const { why = whyFailed(decision.error), error } = decision;
    session.context.refused?.({
      refused: "send",
      ...why,
      code: error.code,
      user: session.user,
    });
  }
  return silent;
}

/** The command of a client, whichever it is. */
type AskingCommand = Pick<RunningCommand<unknown>, "session" | "nowMs">;

/**
 * Has a channel carry an operation out for the client of a command.
 *
 * @param operationOf takes the client as the channel shows it: with the info of its subscription, if it has one
 */
export function requestAsClient(
  { session, nowMs }: AskingCommand,
  channel: string,
  operationOf: (info: ClientInfo) => ClientOperation,
  done: (reply: OperationReply) => void,
): void {
  const subscription = session.subscriptions.get(channel);
  const operation = operationOf(subscription?.info ?? clientInfo(session.identity));
  session.context.channels.request(channel, operation, subscription, nowMs, done);
}

/** The same for an operation that belongs to the trace that the client names, if it names one (rule X1). */
export function requestTraced(
  command: AskingCommand,
  channel: string,
  operationOf: (info: ClientInfo) => TracedOperation,
  done: (reply: OperationReply) => void,
): void {
  const { traceparent } = command.session.identity;
  const operation = (info: ClientInfo): ClientOperation => {
    const own = operationOf(info);
    return traceparent === undefined ? own : traced(own, traceparent);
  };
  requestAsClient(command, channel, operation, done);
}

type TracedOperation = Extract<
  ClientOperation,
  { readonly request: { readonly traceparent?: string } }
>;

/** Answers a call of a client by what its channel has replied. */
export function answerRpc({ id, done }: RunningCommand<RpcRequest>, reply: OperationReply): void {
  if (reply.outcome === "answered")
    done({ outcome: "reply", reply: { id, method: "rpc", data: reply.data } });
  else done(failWith(errorOf(reply)));
}
