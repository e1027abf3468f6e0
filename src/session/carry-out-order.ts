import { hasPassed } from "../moment.ts";
import type { RefreshOrder, SubscribeOrder, HolderOrder } from "../contract/user-order.ts";
import { fitsAttachment } from "../contract/attachment.ts";
import type { ServerSubscription } from "../access/claims.ts";
import type { KnownChannel } from "../channel/channel-name.ts";
import { disconnectCodes, type UnsubscribeCode, unsubscribeCodes } from "../protocol/codes.ts";
import { grantServerSubscription } from "./grant.ts";
import type { Grant } from "./decision.ts";
import { ttlSeconds } from "./liveness.ts";
import type { CommandSession } from "./ports.ts";
import {
  asReceived,
  noRecovery,
  subscribeOptions,
  recoveryOf,
  subscribeResult,
} from "./subscribe.ts";
import type { Subscription } from "./subscription.ts";
import { tokenEndSeconds } from "../users/local-tokens.ts";
import type { OrderOutcome } from "../users/local-users.ts";
import { endInvalid } from "./token-standing.ts";

/** Takes the outcome of an order, once. */
type OrderDone = (outcome: OrderOutcome) => void;

/** Carries out an order of the user's home that names the session (rules U1, U2, U7, U8 and U11). */
export function carryOutOrder(
  session: OrderedSession,
  order: HolderOrder,
  nowMs: number,
  done: OrderDone,
): void {
  switch (order.method) {
    case "disconnect":
      session.disconnect(order.code);
      done("done");
      return;
    case "unsubscribe":
      session.unsubscribe(order.channel, unsubscribeCodes.server);
      done("done");
      return;
    case "subscribe":
      session.whenConnected(() => subscribe(session, order, nowMs, done));
      return;
    case "refresh":
      session.whenConnected(() => refresh(session, order, nowMs, done));
      return;
    case "invalidate_user_tokens":
      session.change({ invalidated: true });
      endInvalid(session, order, nowMs);
      done("done");
      return;
    case "revoke_token":
      // It names a token and no user, so `LocalTokens` carries it out.
      done("done");
  }
}

/**
 * Subscribes the client as the server does. The subscribe push comes before all publications, first of all those that
 * are recovered (rule U35). A session that is subscribed already, or has no room, stays as it is.
 */
function subscribe(
  session: OrderedSession,
  order: SubscribeOrder,
  nowMs: number,
  done: OrderDone,
): void {
  const { subscription: wanted, recoverSince } = order;
  const { channel } = wanted;
  if (session.subscriptions.has(channel) && session.subscriptions.get(channel) === undefined) {
    // Whether the client's own subscribe succeeds isn't known yet. The order is repeated when it is.
    done("failed");
    return;
  }
  const known = session.context.channels.find(channel);
  const grant =
    known.outcome === "resolved" && !hasPassed(order.expireAtSeconds, nowMs)
      ? grantOrdered(session, wanted, order, known)
      : undefined;
  if (known.outcome !== "resolved" || grant === undefined) {
    done("done");
    return;
  }
  const { channels } = session.context;
  const recovery =
    recoverSince === undefined ? noRecovery : { recover: true, flag: 0, ...recoverSince };
  const options = subscribeOptions(grant, known.options, recovery);
  const subscription = session.newSubscription(grant.subscription);
  session.subscriptions.add(subscription);
  channels.subscribe(subscription, options, nowMs, (reply) => {
    const isCancelled = session.takeCancelled(channel);
    if (reply.outcome === "failed" || isCancelled) {
      session.subscriptions.remove(channel);
      if (reply.outcome === "failed") done(reply.error.temporary ? "failed" : "done");
      else {
        channels.unsubscribe(subscription);
        done("done");
      }
      return;
    }
    const { knownDeltas } = session.context;
    begin(
      session,
      subscription,
      grant,
      asReceived(subscription, knownDeltas, recovery, reply),
      nowMs,
    );
    done("done");
  });
}

/** Grants the subscription; undefined if the client has it, or if there is no room for it (rules G1, G2). */
function grantOrdered(
  session: OrderedSession,
  wanted: ServerSubscription,
  { expireAtSeconds, recoverSince }: SubscribeOrder,
  known: KnownChannel,
): Grant | undefined {
  const { subscriptions, context, user, identity } = session;
  if (session.closed || subscriptions.has(wanted.channel)) return undefined;
  if (subscriptions.size >= context.config.client.channelLimit) return undefined;
  const requester = { user, client: identity.client };
  const asked = { recoverable: recoverSince !== undefined };
  const grant = grantServerSubscription(wanted, known, requester, asked);
  const subscription = { ...grant.subscription, expireAtSeconds, ordered: true } as const;
  const hasRoom = session.hasRoom([...subscriptions.snapshots, subscription]);
  return hasRoom ? { ...grant, subscription } : undefined;
}

function begin(
  session: OrderedSession,
  subscription: Subscription,
  grant: Grant,
  received: ReturnType<typeof asReceived>,
  nowMs: number,
): void {
  const { codec } = session;
  const { channel } = subscription;
  const { request, reply } = received;
  const { recoverable, positioned, position, data } = subscribeResult(grant, request, reply, nowMs);
  const result = {
    recoverable,
    positioned,
    ...(position === undefined ? {} : { position }),
    ...(data === undefined ? {} : { data }),
  };
  subscription.begin();
  session.context.counts?.subscribed(channel, recoveryOf(request, reply));
  session.tell([subscription]);
  session.send(codec.encodePush({ type: "subscribe", channel, result }));
  for (const publication of reply.publications)
    session.send(codec.encodePush({ type: "publication", channel, publication }));
  session.announce(subscription);
}

/**
 * Changes the end of the connection and its info, as a token of the client's would (rule U8). Its token has to be known to
 * the token's home for as long as the connection may last now (rule U33).
 */
function refresh(
  session: OrderedSession,
  order: RefreshOrder,
  nowMs: number,
  done: OrderDone,
): void {
  const { expired, expireAtSeconds } = order;
  const { identity, context } = session;
  if (session.closed) done("done");
  else if (expired || hasPassed(expireAtSeconds, nowMs)) {
    session.disconnect(disconnectCodes.connectionExpired);
    done("done");
  } else if (identity.claims?.uid === undefined || context.users === undefined) {
    change(session, order, nowMs);
    done("done");
  } else {
    const endSeconds = tokenEndSeconds(expireAtSeconds, context.config.client);
    context.users.tokens.check(identity.claims.uid, endSeconds, (state) => {
      if (state === "revoked") session.disconnect(disconnectCodes.invalidToken);
      else if (state === "valid") change(session, order, nowMs);
      done(state === "unknown" ? "failed" : "done");
    });
  }
}

function change(session: OrderedSession, order: RefreshOrder, nowMs: number): void {
  const { expireAtSeconds, info } = order;
  if (session.closed) return;
  const before = session.identity.claims ?? { user: session.user, expireAtSeconds: 0 };
  const claims = { ...before, expireAtSeconds, ...(info === undefined ? {} : { info }) };
  const { snapshots, all } = session.subscriptions;
  // There is no room for such an info, as there wouldn't be if a token brought it (rule B2).
  if (!fitsAttachment(claims) || !session.hasRoom(snapshots, claims)) return;
  session.change({ claims });
  for (const subscription of all) subscription.updateInfo(session.identity);
  const expiry = { ttlSeconds: ttlSeconds(expireAtSeconds, nowMs) };
  session.send(session.codec.encodePush({ type: "refresh", expiry }));
}

/** A session as orders need it. */
interface OrderedSession extends CommandSession {
  /** Ends a subscription, also one that is about to begin, and tells the client, also if it has none (rule U2). */
  unsubscribe(channel: string, code: UnsubscribeCode): void;
  /** Does the work at once, or when the connect reply has been sent. */
  whenConnected(work: () => void): void;
}
