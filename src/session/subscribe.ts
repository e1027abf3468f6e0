import type { SubscriptionVerdict } from "../access/claims.ts";
import type { ChannelOptions } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Message } from "../protocol/codec.ts";
import { flagErrorOnUnrecoverable, type SubscribeRequest } from "../protocol/command.ts";
import type { JoinAnswer } from "./ports.ts";
import { named } from "./channel-commands.ts";
import { type Decision, failWith } from "./decision.ts";
import { type Grant, grantSubscription } from "./grant.ts";
import type { SessionState } from "./session-state.ts";
import { joinWish, subscribeResult } from "./subscribe-command.ts";
import type { Subscriber, Subscription } from "./subscription.ts";
import { takenUp } from "./taken-up.ts";

/**
 * Carries out a client's subscribe: the reply comes before any push of the channel, the own join after it (rules O3, O5).
 *
 * @param verdict what became of the subscription token; absent when none came
 * @param done takes what the subscribe comes to when it failed; it is given nothing once the client was told of its success
 */
export function carryOutSubscribe(
  state: SessionState,
  subscriber: Subscriber,
  id: number,
  request: SubscribeRequest,
  verdict: SubscriptionVerdict | undefined,
  nowMs: number,
  done: (failure?: Decision) => void,
): void {
  const { channels } = state.context;
  const { channel } = request;
  const allowed = allow(state, request, verdict, nowMs);
  if (allowed.outcome !== "allowed") {
    done(allowed);
    return;
  }
  const { grant, options } = allowed;
  const subscription = state.newSubscription(grant.subscription, subscriber);
  state.subscriptions.add(subscription, false);
  const fail = (error: ErrorCode): void => {
    state.subscriptions.remove(channel);
    done(failWith(error));
  };
  channels.join(subscription, joinWish(grant, options, request), nowMs, (answer) => {
    if (answer.outcome === "failed") {
      fail(answer.error);
      return;
    }
    const message = joinedMessage(state, subscription, id, request, grant, answer, nowMs);
    if (message === undefined) {
      channels.leave(subscription);
      fail(errorCodes.unrecoverablePosition);
      return;
    }
    if (state.mustWait(message)) {
      // Several large recoveries at once would be reason to cut the client as slow, again and again.
      channels.leave(subscription);
      fail(errorCodes.tooManyRequests);
      return;
    }
    state.subscriptions.begin(channel);
    state.save();
    // The reply may have to wait for others, and what the channel tells then waits for the reply (rule O3).
    subscription.hold();
    state.send(message, undefined, () => subscription.release());
    if (!state.closed) channels.announce(subscription);
    done();
  });
}

/**
 * The reply. What is recovered is no more than may wait for a client, as the channel measured it; but in this client's format
 * it may be more (payloads as strings, bytes in base64). Then it is told that it missed something (rule R4).
 *
 * @returns undefined where it wants no subscription then
 */
function joinedMessage(
  state: SessionState,
  subscription: Subscription,
  id: number,
  request: SubscribeRequest,
  grant: Grant,
  answer: JoinAnswer & { readonly outcome: "joined" },
  nowMs: number,
): Message | undefined {
  // A client walks to the top through what it gets. When its filter lets nothing of it through, it is told where that is.
  const publications = takenUp(subscription, state.context.knownDeltas, answer.publications);
  const isLeftBehind = publications.length === 0 && answer.publications.length > 0;
  const asked = isLeftBehind ? { ...request, ...answer.position } : request;
  const encode = (joined: typeof answer): Message => {
    const result = subscribeResult(grant, asked, joined, nowMs);
    return state.codec.encodeReply({ id, method: "subscribe", result });
  };
  const message = encode({ ...answer, publications });
  const { queueMaxSizeBytes } = state.context.config.client;
  if (publications.length === 0 || message.length <= queueMaxSizeBytes) return message;
  if ((request.flag & flagErrorOnUnrecoverable) !== 0) return undefined;
  subscription.forgetBase();
  return encode({ ...answer, recovered: false, publications: [] });
}

type Allowed =
  | { readonly outcome: "allowed"; readonly grant: Grant; readonly options: ChannelOptions }
  | Decision;

function allow(
  state: SessionState,
  request: SubscribeRequest,
  verdict: SubscriptionVerdict | undefined,
  nowMs: number,
): Allowed {
  const { channels, config } = state.context;
  const { subscriptions } = state;
  const found = named(request.channel, channels);
  if (found.outcome !== "resolved") return found;
  if (subscriptions.has(request.channel)) return failWith(errorCodes.alreadySubscribed);
  if (subscriptions.size >= config.client.channelLimit) return failWith(errorCodes.limitExceeded);
  const applicant = { client: state.identity.client, user: state.user };
  const grant = grantSubscription(request, found, applicant, verdict, nowMs);
  if (grant.outcome !== "granted") return grant;
  return state.hasRoom([...subscriptions.granted, grant.subscription])
    ? { outcome: "allowed", grant, options: found.options }
    : failWith(errorCodes.limitExceeded);
}
