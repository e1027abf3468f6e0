import { hasPassed } from "../moment.ts";
import type { SubscriptionVerdict } from "../access/claims.ts";
import type { KnownChannel } from "../channel/channel-name.ts";
import type { ChannelOptions, HookTarget } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Message } from "../protocol/codec.ts";
import { flagErrorOnUnrecoverable, type SubscribeRequest } from "../protocol/command.ts";
import type { Subscribed } from "./channels.ts";
import {
  ask,
  type CommandSession,
  type RunningCommand,
  type GrantedSubscribe,
  typeOf,
} from "./ports.ts";
import { cancelled, type Decision, failWith, refuseWith, silent, type Grant } from "./decision.ts";
import {
  findChannel,
  grantByHook,
  grantSubscription,
  endOf,
  requesterOf,
  replyTtlSeconds,
} from "./grant.ts";
import { maySubscribe } from "./may.ts";
import { notAskedForOnlooker } from "./onlooker.ts";
import { dialectOf } from "./dialect/dialect.ts";
import type { DeliveryStart } from "./observer.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscribeOptions } from "../channel/channel-outcomes.ts";
import type { SubscribeResult } from "../protocol/reply.ts";
import { mayRead, readInVain } from "./rate-limit.ts";
import { deltaChain, type KnownDeltas } from "../delta/delta-chain.ts";
import type { Publication } from "../protocol/publication.ts";

/**
 * Carries out a client's subscribe. The client gets the reply before any push of the channel, and its own join after
 * the reply (rules O3, O5).
 *
 * @param token the command's verified subscription token; undefined if the command carries none
 */
export function carryOutSubscribe(
  command: RunningCommand<SubscribeRequest>,
  token: SubscriptionVerdict | undefined,
): void {
  const { session, request, nowMs, done } = command;
  const found = findChannel(session, request.channel);
  if (found.outcome !== "resolved") {
    done(found);
    return;
  }
  const type = typeOf(session, found.options);
  if (type?.goOn?.(command) === true) return;
  const refused =
    refuseAnother(session, request.channel) ??
    type?.refuse?.(session, request) ??
    type?.dependence?.refuse(session, request.channel);
  if (refused !== undefined) {
    done(refused);
    return;
  }
  const requester = requesterOf(session, request.channel);
  const caller = { ...requester, hasToken: token !== undefined };
  const may = maySubscribe(found, caller, session.context.config.channel);
  if (may.allowed === "asked") {
    if (session.identity.onlooker === true) done(notAskedForOnlooker());
    else subscribeByHook(command, found, may.by);
    return;
  }
  const asked = grantSubscription(session, request, found, requester, may, token, nowMs);
  const grant = withRoom(session, asked);
  if (grant.outcome !== "granted") done(grant);
  else begin({ ...command, grant, options: found.options });
}

/** Whether a backend is asked about a subscribe to this channel, if the client has it not and sends no token. */
export function asksBeforeSubscribe({ context, user }: CommandSession, channel: string): boolean {
  const found = context.channels.resolve(channel);
  if (found.outcome !== "resolved") return false;
  return maySubscribe(found, { user }, context.config.channel).allowed === "asked";
}

/**
 * Lets a backend decide on a subscribe, in place of the namespace's permissions (rule Q2). Meanwhile the channel counts as
 * one of the session's, so that an order can end the subscription before it begins (rule U2).
 */
function subscribeByHook(
  command: RunningCommand<SubscribeRequest>,
  known: KnownChannel,
  target: HookTarget,
): void {
  const { session, request, nowMs, done } = command;
  const { channel, data } = request;
  const requester = { client: session.identity.client, user: session.user };
  const atMost = withRoom(session, grantByHook(request, known, requester, undefined));
  if (atMost.outcome !== "granted") {
    done(atMost);
    return;
  }
  session.subscriptions.reserve(channel);
  const question = { channel, ...(data === undefined ? {} : { data }) };
  ask(session, { hook: "subscribe", question, target, nowMs }, (answer, answeredMs) => {
    session.subscriptions.release(channel);
    if (session.takeCancelled(channel)) {
      done(cancelled);
      return;
    }
    if (answer.outcome !== "granted") {
      done(answer);
      return;
    }
    const { granted: terms } = answer;
    if (hasPassed(terms.expireAtSeconds, answeredMs)) {
      done(refuseWith(errorCodes.expired, "Q5", "the result's expire_at has passed"));
      return;
    }
    const grant = withRoom(session, grantByHook(request, known, requester, terms));
    if (grant.outcome !== "granted") done(grant);
    else begin({ ...command, grant, options: known.options, nowMs: answeredMs });
  });
}

/** Begins a subscription that is granted, and replies. */
function begin(granted: GrantedSubscribe): void {
  const type = typeOf(granted.session, granted.options);
  if (type === undefined) beginAsStream(granted);
  else type.begin(granted, (grant) => beginAsStream({ ...granted, grant }));
}

function beginAsStream(granted: GrantedSubscribe): void {
  const { session, request, grant, options, nowMs, done } = granted;
  const { channels } = session.context;
  const { channel } = request;
  const wanted = subscribeOptions(grant, options, request);
  const recovers = wanted.since !== undefined;
  if (recovers && !mayRead(session, nowMs)) {
    done(failWith(errorCodes.tooManyRequests));
    return;
  }
  const subscription = session.newSubscription(grant.subscription);
  session.subscriptions.add(subscription);
  const refuse = (decision: Decision): void => {
    if (recovers) readInVain(session, nowMs);
    session.subscriptions.remove(channel);
    done(decision);
  };
  const fail = (error: ErrorCode): void => refuse(failWith(error));
  channels.subscribe(subscription, wanted, nowMs, (reply) => {
    if (reply.outcome === "failed") {
      session.takeCancelled(channel);
      fail(reply.error);
      return;
    }
    const ended = endOf(session, subscription.granted);
    if (ended !== undefined) {
      channels.unsubscribe(subscription);
      refuse(ended);
      return;
    }
    const { message, isWhole } = subscribedMessage(granted, subscription, reply);
    if (message === undefined) {
      channels.unsubscribe(subscription);
      fail(errorCodes.unrecoverablePosition);
      return;
    }
    if (session.mustWait(message)) {
      // Several large recoveries at once would get the client disconnected as slow, again after each reconnect.
      channels.unsubscribe(subscription);
      fail(errorCodes.tooManyRequests);
      return;
    }
    const start = isWhole ? recoveredStart(wanted, reply) : undefined;
    session.context.deliveries?.begin(subscription, start);
    subscription.begin();
    session.context.counts?.subscribed(channel, recoveryOf(request, reply));
    session.reportBegun([subscription]);
    if (dialectOf(session)?.sendsLater(session, subscription, message) !== true)
      session.send(message);
    session.announce(subscription);
    done(silent);
  });
}

/** Refuses a subscription to a channel that the session has already, or for which it has no room. */
function refuseAnother(
  { subscriptions, context }: CommandSession,
  channel: string,
): Decision | undefined {
  if (subscriptions.has(channel)) {
    const reason = "the connection is subscribed to the channel already";
    return refuseWith(errorCodes.alreadySubscribed, "W1", reason);
  }
  return subscriptions.size >= context.config.client.channelLimit
    ? refuseWith(errorCodes.limitExceeded, "G1", "client.channel_limit is reached")
    : undefined;
}

/** The grant, unless the session has no room for it (rules G2, S1). */
export function withRoom(session: CommandSession, grant: Grant | Decision): Grant | Decision {
  if (grant.outcome !== "granted") return grant;
  return session.hasRoom([...session.subscriptions.snapshots, grant.subscription])
    ? grant
    : refuseWith(errorCodes.limitExceeded, "G2", "the session is full");
}

/** A client's request to recover from a position, in a subscribe or in a connect. */
export interface RecoveryRequest {
  readonly recover: boolean;
  readonly epoch: string;
  readonly offset: number;
  readonly flag: number;
}

/** Of a client that doesn't recover. */
export const noRecovery: RecoveryRequest = { recover: false, epoch: "", offset: 0, flag: 0 };

/** The options with which the channel is asked to subscribe, from the grant and the client's request. */
export function subscribeOptions(
  grant: Grant,
  options: ChannelOptions,
  request: RecoveryRequest & Pick<SubscribeRequest, "newest">,
): SubscribeOptions {
  const { newest = false } = request;
  const { recoveryMode, autoCacheRecover } = options;
  const mode = newest ? "cache" : recoveryMode;
  const since = sinceOf(grant, request, newest || (mode === "cache" && autoCacheRecover));
  return {
    positioned: grant.positioned,
    mode,
    // A client that didn't request recovery isn't refused if automatic cache recovery fails.
    orFail: request.recover && (request.flag & flagErrorOnUnrecoverable) !== 0,
    ...(since === undefined ? {} : { since }),
  };
}

/** The position to recover from. Automatic cache recovery gives a client without one the newest publication. */
function sinceOf(
  grant: Grant,
  { recover, epoch, offset }: RecoveryRequest,
  automatic: boolean,
): SubscribeOptions["since"] {
  if (!grant.recoverable) return undefined;
  if (recover) return { epoch, offset };
  return automatic ? { epoch: "", offset: 0 } : undefined;
}

/**
 * Encodes the reply. The channel recovers no more bytes than the client may be sent. But in the client's format the
 * publications may be larger (payloads as strings, bytes in base64). Then the subscription isn't recovered (rule R4).
 *
 * @returns the message, undefined if the client doesn't want an unrecovered subscription (rule R5); and whether it has
 *          the channel's reply
 */
function subscribedMessage(
  { session, id, request, grant, nowMs }: GrantedSubscribe,
  subscription: Subscription,
  reply: Subscribed,
): { readonly message: Message | undefined; readonly isWhole: boolean } {
  const received = asReceived(subscription, session.context.knownDeltas, request, reply);
  const { publications } = received.reply;
  const encode = (subscribed: Subscribed): Message => {
    const result = subscribeResult(grant, received.request, subscribed, nowMs);
    const { channel } = request;
    return session.codec.encodeReply({ id, method: "subscribe", result, channel });
  };
  const message = encode(received.reply);
  const { queueMaxSizeBytes } = session.context.config.client;
  if (publications.length === 0 || message.length <= queueMaxSizeBytes)
    return { message, isWhole: true };
  if ((request.flag & flagErrorOnUnrecoverable) !== 0)
    return { message: undefined, isWhole: false };
  readInVain(session, nowMs);
  subscription.forgetBase();
  const bare = encode({ ...reply, recovered: false, publications: [] });
  return { message: bare, isWhole: false };
}

/**
 * Where a subscription begins that has recovered; undefined if it hasn't.
 *
 * @param reply the channel's, before the subscription's filter
 */
export function recoveredStart(
  { since, mode }: SubscribeOptions,
  { recovered, position, publications }: Subscribed,
): DeliveryStart | undefined {
  if (!recovered || since === undefined || position === undefined) return undefined;
  return mode === "stream"
    ? { since: since.offset, isClients: true }
    : // The client is sent the newest publication alone.
      { since: position.offset - publications.length, isClients: false };
}

/**
 * A channel's reply as the subscriber gets it, with the request that the result answers. A client counts its offset up
 * with the publications that it gets. If a filter lets none through, the result names the top (rule D3).
 */
export function asReceived(
  subscription: Subscription,
  knownDeltas: KnownDeltas,
  request: RecoveryRequest,
  reply: Subscribed,
): { readonly request: RecoveryRequest; readonly reply: Subscribed } {
  const publications = recoveredPublications(subscription, knownDeltas, reply.publications);
  const isAllFiltered = publications.length === 0 && reply.publications.length > 0;
  return {
    request: isAllFiltered ? { ...request, ...reply.position } : request,
    reply: { ...reply, publications },
  };
}

/** The outcome of a request to recover, as it is counted; undefined without one. */
export function recoveryOf(
  { recover }: RecoveryRequest,
  { recovered, publications }: Subscribed,
): { readonly recovered: boolean; readonly publications: number } | undefined {
  return recover ? { recovered, publications: publications.length } : undefined;
}

/** The result of a subscribe that was granted and has begun (docs/protocol.md 2.2). */
export function subscribeResult(
  grant: Grant,
  request: RecoveryRequest,
  subscribed: Subscribed,
  nowMs: number,
): SubscribeResult {
  const { position, recovered, publications } = subscribed;
  return {
    ttlSeconds: replyTtlSeconds(grant, nowMs),
    recoverable: grant.recoverable,
    positioned: grant.positioned,
    wasRecovering: request.recover,
    recovered,
    publications,
    // A recovered client counts up to the top from the offset that it requested (rule R2).
    ...(position === undefined
      ? {}
      : { position: recovered ? { ...position, offset: request.offset } : position }),
    ...(grant.subscription.delta === true ? { delta: true } : {}),
    ...(grant.data === undefined ? {} : { data: grant.data }),
    ...grant.replyFields,
  };
}

/**
 * Recovered publications as the subscriber gets them: those that its filter lets through (docs/protocol.md 3.2), or the
 * first one in full and the others as deltas (docs/protocol.md 3.1). The last one, if there is one, is the base of the
 * next delta.
 */
function recoveredPublications(
  subscription: Subscription,
  knownDeltas: KnownDeltas,
  publications: readonly Publication[],
): readonly Publication[] {
  const { filter, delta, codec, channel } = subscription;
  if (filter !== undefined) return publications.filter(({ tags }) => filter.matches(tags));
  if (!delta) return publications;
  const chain = deltaChain(publications, codec.deltaForm, channel, knownDeltas);
  const newest = publications.at(-1);
  if (newest !== undefined && chain.last !== undefined)
    subscription.noteSent({ ...newest, data: chain.last });
  return chain.publications;
}
