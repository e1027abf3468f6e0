import type { SubscriptionVerdict } from "../access/claims.ts";
import type { ChannelOptions } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Message } from "../protocol/codec.ts";
import { flagErrorOnUnrecoverable, type SubscribeRequest } from "../protocol/command.ts";
import type { CommandSession, SubscribeReply } from "./ports.ts";
import { type Decision, type DecisionDone, failWith, silent } from "./decision.ts";
import { type Grant, grantSubscription, findChannel } from "./grant.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscribeOptions } from "../channel/channel.ts";
import type { SubscribeResult } from "../protocol/reply.ts";
import { ttlSeconds } from "./expiry.ts";
import { deltaChain, type KnownDeltas } from "../delta/delta-chain.ts";
import type { Publication } from "../protocol/publication.ts";

/**
 * Carries out a client's subscribe: the reply comes before any push of the channel, the own join after it (rules O3, O5).
 *
 * @param token what became of the subscription token; absent when none came
 * @param done takes what the subscribe comes to; silent once the client was told of its success
 */
export function carryOutSubscribe(
  session: CommandSession,
  id: number,
  request: SubscribeRequest,
  token: SubscriptionVerdict | undefined,
  nowMs: number,
  done: DecisionDone,
): void {
  const { channels } = session.context;
  const { channel } = request;
  const allowed = allow(session, request, token, nowMs);
  if (allowed.outcome !== "allowed") {
    done(allowed);
    return;
  }
  const { grant, options } = allowed;
  const subscription = session.newSubscription(grant.subscription);
  session.subscriptions.add(subscription);
  const fail = (error: ErrorCode): void => {
    session.subscriptions.remove(channel);
    done(failWith(error));
  };
  channels.subscribe(subscription, subscribeOptions(grant, options, request), nowMs, (reply) => {
    if (reply.outcome === "failed") {
      fail(reply.error);
      return;
    }
    const message = subscribedMessage(session, subscription, id, request, grant, reply, nowMs);
    if (message === undefined) {
      channels.unsubscribe(subscription);
      fail(errorCodes.unrecoverablePosition);
      return;
    }
    if (session.mustWait(message)) {
      // Several large recoveries at once would be reason to cut the client as slow, again and again.
      channels.unsubscribe(subscription);
      fail(errorCodes.tooManyRequests);
      return;
    }
    subscription.begin();
    // The reply may have to wait for others, and what the channel tells then waits for the reply (rule O3).
    subscription.pause();
    session.send(message, undefined, () => subscription.resume());
    if (!session.closed) channels.announce(subscription);
    done(silent);
  });
}

/**
 * The reply. What is recovered is no more than may wait for a client, as the channel measured it; but in this client's format
 * it may be more (payloads as strings, bytes in base64). Then it is told that it missed something (rule R4).
 *
 * @returns undefined where it wants no subscription then
 */
function subscribedMessage(
  session: CommandSession,
  subscription: Subscription,
  id: number,
  request: SubscribeRequest,
  grant: Grant,
  reply: Subscribed,
  nowMs: number,
): Message | undefined {
  // A client walks to the top through what it gets. When its filter lets nothing of it through, it is told where that is.
  const publications = recoveredPublications(
    subscription,
    session.context.knownDeltas,
    reply.publications,
  );
  const isLeftBehind = publications.length === 0 && reply.publications.length > 0;
  const asked = isLeftBehind ? { ...request, ...reply.position } : request;
  const encode = (subscribed: Subscribed): Message => {
    const result = subscribeResult(grant, asked, subscribed, nowMs);
    return session.codec.encodeReply({ id, method: "subscribe", result });
  };
  const message = encode({ ...reply, publications });
  const { queueMaxSizeBytes } = session.context.config.client;
  if (publications.length === 0 || message.length <= queueMaxSizeBytes) return message;
  if ((request.flag & flagErrorOnUnrecoverable) !== 0) return undefined;
  subscription.forgetBase();
  return encode({ ...reply, recovered: false, publications: [] });
}

type Allowed =
  | { readonly outcome: "allowed"; readonly grant: Grant; readonly options: ChannelOptions }
  | Decision;

function allow(
  session: CommandSession,
  request: SubscribeRequest,
  token: SubscriptionVerdict | undefined,
  nowMs: number,
): Allowed {
  const { channels, config } = session.context;
  const { subscriptions } = session;
  const found = findChannel(request.channel, channels);
  if (found.outcome !== "resolved") return found;
  if (subscriptions.has(request.channel)) return failWith(errorCodes.alreadySubscribed);
  if (subscriptions.size >= config.client.channelLimit) return failWith(errorCodes.limitExceeded);
  const requester = { client: session.identity.client, user: session.user };
  const grant = grantSubscription(request, found, requester, token, nowMs);
  if (grant.outcome !== "granted") return grant;
  return session.hasRoom([...subscriptions.granted, grant.subscription])
    ? { outcome: "allowed", grant, options: found.options }
    : failWith(errorCodes.limitExceeded);
}

/** What a client says of where it was, in a subscribe or in a connect. */
export interface RecoveryRequest {
  readonly recover: boolean;
  readonly epoch: string;
  readonly offset: number;
  readonly flag: number;
}

/** For whom there is nothing to recover. */
export const noRecovery: RecoveryRequest = { recover: false, epoch: "", offset: 0, flag: 0 };

/** How a subscriber wants to take up the stream, from what it was granted and what it says of itself. */
export function subscribeOptions(
  grant: Grant,
  options: ChannelOptions,
  request: RecoveryRequest,
): SubscribeOptions {
  const { recoveryMode: mode, autoCacheRecover } = options;
  const since = sinceOf(grant, request, mode === "cache" && autoCacheRecover);
  return {
    positioned: grant.positioned,
    mode,
    // Who asks for nothing isn't refused for want of it: automatic cache recovery is a gift.
    orFail: request.recover && (request.flag & flagErrorOnUnrecoverable) !== 0,
    ...(since === undefined ? {} : { since }),
  };
}

/** A subscribe that has succeeded, as the channel replied. */
export type Subscribed = SubscribeReply & { readonly outcome: "subscribed" };

/** The result of a subscribe that was granted and has begun (docs/protocol.md 2.2). */
export function subscribeResult(
  grant: Grant,
  request: RecoveryRequest,
  subscribed: Subscribed,
  nowMs: number,
): SubscribeResult {
  const { position, recovered, publications } = subscribed;
  return {
    ttlSeconds: ttlSeconds(grant.subscription.expireAtSeconds, nowMs),
    recoverable: grant.recoverable,
    positioned: grant.positioned,
    wasRecovering: grant.recoverable && request.recover,
    recovered,
    publications,
    // A client that recovered walks from where it was through the publications to the top.
    ...(position === undefined
      ? {}
      : { position: recovered ? { ...position, offset: request.offset } : position }),
    ...(grant.subscription.delta === true ? { delta: true } : {}),
    ...(grant.data === undefined ? {} : { data: grant.data }),
  };
}

/** With automatic cache recovery whoever asks for nothing asks for the newest publication. */
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
 * Recovered publications as the subscriber gets them: those that its filter lets through (docs/protocol.md 3.2), or the first in
 * full and the others as patches (docs/protocol.md 3.1). What comes next may be a patch of the last of them only if there is one.
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
    subscription.taking({ ...newest, data: chain.last });
  return chain.publications;
}
