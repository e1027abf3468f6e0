import { hasPassed } from "../moment.ts";
import type {
  HolderOrder,
  NumberedOrder,
  OrderTarget,
  RefreshOrder,
  SubscribeOrder,
} from "../contract/user-order.ts";
import type { ServerSubscription } from "../access/claims.ts";
import type { KnownChannel } from "../channel/channel-name.ts";
import { disconnectCodes, unsubscribeCodes } from "../protocol/codes.ts";
import { grantServerSubscription } from "../session/grant.ts";
import type { Grant } from "../session/decision.ts";
import type { CommandSession } from "../session/ports.ts";
import {
  asReceived,
  recoveredStart,
  noRecovery,
  subscribeOptions,
  recoveryOf,
  subscribeResult,
} from "../session/subscribe.ts";
import type { DeliveryStart } from "../session/observer.ts";
import type { Subscription } from "../session/subscription.ts";
import type { LocalTokens } from "./local-tokens.ts";
import { endInvalid } from "./ended-tokens.ts";
import { changeLife, pushEnd } from "../session/refresh.ts";
import { secretOf } from "../session/unidirectional.ts";

/**
 * The orders of homes to the sessions of one object (rules U1, U2, U7, U8 and U11). It keeps something of a session only
 * while an order to it is under way.
 */
export class SessionOrders {
  readonly #tokens: LocalTokens;
  /** Called when the connection ends before an order has been carried out. */
  readonly #underWay = new WeakMap<CommandSession, Set<OrderDone>>();

  constructor(tokens: LocalTokens) {
    this.#tokens = tokens;
  }

  /** Carries out the orders that a session hasn't seen and that name it, one after the other, until one fails. */
  carryOut(
    session: OrderedSession,
    orders: readonly NumberedOrder[],
    nowMs: number,
    done: OrderDone,
  ): void {
    const seen = session.user === "" ? -1 : (session.identity.lastOrder ?? 0);
    const unseen = orders.filter(({ number }) => number > seen);
    let last = seen;
    const finish = (outcome: OrderOutcome): void => {
      if (session.user !== "" && takesOrders(session) && last > seen)
        session.change({ lastOrder: last });
      done(outcome);
    };
    const proceed = (): void => {
      const next = unseen.shift();
      if (next === undefined || !takesOrders(session)) {
        finish("done");
        return;
      }
      const { number, order } = next;
      const ended = (outcome: OrderOutcome): void => {
        if (outcome === "failed") {
          finish("failed");
          return;
        }
        last = number;
        proceed();
      };
      if (names(order, session)) this.#carryOut(session, order, nowMs, ended);
      else ended("done");
    };
    proceed();
  }

  /** The connection has ended: nothing is left to do for its orders. */
  ended(session: CommandSession): void {
    const underWay = this.#underWay.get(session);
    for (const ended of underWay ?? []) ended("done");
  }

  #carryOut(session: OrderedSession, order: HolderOrder, nowMs: number, done: OrderDone): void {
    const underWay = this.#underWay.get(session) ?? new Set();
    this.#underWay.set(session, underWay);
    const ended = (outcome: OrderOutcome): void => {
      if (!underWay.delete(ended)) return;
      if (underWay.size === 0) this.#underWay.delete(session);
      done(outcome);
    };
    underWay.add(ended);
    switch (order.method) {
      case "disconnect":
        session.disconnect(order.code);
        ended("done");
        return;
      case "unsubscribe":
        session.unsubscribe(order.channel, unsubscribeCodes.server);
        ended("done");
        return;
      case "subscribe":
        session.whenConnected(() => subscribeByServer(session, order, nowMs, ended));
        return;
      case "refresh":
        session.whenConnected(() => refresh(session, this.#tokens, order, nowMs, ended));
        return;
      case "invalidate_user_tokens":
        session.change({ invalidated: true });
        endInvalid(session, order, nowMs);
        ended("done");
        return;
      case "revoke_token":
        // It names a token and no user, so `LocalTokens` carries it out.
        ended("done");
    }
  }
}

/** Whether an order has been carried out, or has to be repeated. */
export type OrderOutcome = "done" | "failed";

/** Takes the outcome of an order, once. */
type OrderDone = (outcome: OrderOutcome) => void;

/** A session as orders need it. */
export interface OrderedSession extends CommandSession {
  /** Does the work at once, or when the connect reply has been sent. */
  whenConnected(work: () => void): void;
}

/** Whether orders concern a connection: it is open, its connect was accepted, and it isn't an onlooker's (rule N26). */
export function takesOrders({ closed, user, connecting, identity, held }: CommandSession): boolean {
  if (closed || identity.onlooker === true) return false;
  if (user === "") return connecting || identity.phase === "connected";
  return held || identity.lastOrder !== undefined;
}

/** Whether an order names a session of its user. */
function names({ client, session, whitelist }: OrderTarget, one: CommandSession): boolean {
  const { client: own } = one.identity;
  if (client !== undefined && client !== own) return false;
  // An anonymous client gets a session ID that ends with the object's node.
  if (session !== undefined && session.split("@")[0] !== secretOf(one)) return false;
  return whitelist?.includes(own) !== true;
}

/**
 * Subscribes the client as the server does. The subscribe push comes before all publications, first of all those that
 * are recovered (rule U35). A session that is subscribed already, or has no room, stays as it is.
 */
export function subscribeByServer(
  session: CommandSession,
  order: Pick<SubscribeOrder, "subscription" | "expireAtSeconds" | "recoverSince">,
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
  const known = session.context.channels.resolve(channel);
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
    const start = recoveredStart(options, reply);
    const received = asReceived(subscription, knownDeltas, recovery, reply);
    // The backend says where the client goes on.
    const given = start && { ...start, isClients: false };
    begin(session, subscription, grant, { ...received, start: given }, nowMs);
    done("done");
  });
}

/** Grants the subscription; undefined if the client has it, or if there is no room for it (rules G1, G2). */
function grantOrdered(
  session: CommandSession,
  wanted: ServerSubscription,
  { expireAtSeconds, recoverSince }: Pick<SubscribeOrder, "expireAtSeconds" | "recoverSince">,
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
  session: CommandSession,
  subscription: Subscription,
  grant: Grant,
  received: ReturnType<typeof asReceived> & { readonly start: DeliveryStart | undefined },
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
  session.context.deliveries?.begin(subscription, received.start);
  subscription.begin();
  session.context.counts?.subscribed(channel, recoveryOf(request, reply));
  session.reportBegun([subscription]);
  session.send(codec.encodePush({ type: "subscribe", channel, result }));
  for (const publication of reply.publications)
    session.send(codec.encodePush({ type: "publication", channel, publication }));
  session.announce(subscription);
}

/** Changes the end of the connection and its info, as a token of the client's would (rules U8 and U33). */
function refresh(
  session: CommandSession,
  tokens: LocalTokens,
  order: RefreshOrder,
  nowMs: number,
  done: OrderDone,
): void {
  const { expired, expireAtSeconds } = order;
  if (session.closed) done("done");
  else if (expired || hasPassed(expireAtSeconds, nowMs)) {
    session.disconnect(disconnectCodes.connectionExpired);
    done("done");
  } else {
    tokens.checkLonger(session, expireAtSeconds, (state) => {
      if (state === "revoked") session.disconnect(disconnectCodes.invalidToken);
      else if (state === "valid") change(session, order, nowMs);
      done(state === "unknown" ? "failed" : "done");
    });
  }
}

function change(
  session: CommandSession,
  { expireAtSeconds, info }: RefreshOrder,
  nowMs: number,
): void {
  if (session.closed) return;
  // There is no room for such an info, as there wouldn't be if a token brought it (rule B2).
  if (!changeLife(session, { expireAtSeconds, ...(info === undefined ? {} : { info }) })) return;
  pushEnd(session, expireAtSeconds, nowMs);
}
