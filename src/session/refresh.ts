import { hasPassed } from "../moment.ts";
import {
  type ConnectionClaims,
  type ConnectionVerdict,
  type SubscriptionVerdict,
  unboundReason,
  withoutSubscriptions,
} from "../access/claims.ts";
import { disconnectCodes, errorCodes, unsubscribeCodes } from "../protocol/codes.ts";
import { type SubRefreshRequest, subRefreshTypes } from "../protocol/command.ts";
import {
  badRequest,
  type Decision,
  disconnectWith,
  expireAtPassed,
  ofAnother,
  refuseToken,
  refuseWith,
  tooLarge,
} from "./decision.ts";
import { refusedByBase } from "./dependence/dependents.ts";
import { isAllowed } from "./grant.ts";
import { filterText, serverChannels, type ServerChannels } from "./server-subscriptions.ts";
import { type CommandSession, type RunningCommand, typeOf, type VerifiedTokens } from "./ports.ts";
import { fitsAttachment } from "../contract/attachment.ts";
import { ttlSeconds } from "./liveness.ts";
import type { SessionSnapshot, SubscriptionSnapshot } from "../contract/session-snapshot.ts";

/**
 * Carries out a refresh. From then on others are shown the new token's info, if it has one, as they would be after
 * hibernation (rules S2 and C13). Subscriptions that only a capability of the earlier token allowed end (rule A34).
 *
 * @param token the command's verified token; undefined if the command carries none
 */
export function carryOutRefresh(
  session: CommandSession,
  id: number,
  token: ConnectionVerdict | undefined,
  nowMs: number,
): Decision {
  const { config, serverSubscriptions } = session.context;
  // The server refreshes the connection itself, and the client received no end (rule Q9).
  if (config.hooks.refresh !== undefined)
    return disconnectWith(disconnectCodes.badRequest, "Q9", "a backend is asked");
  const channelsOf = (claims: ConnectionClaims): ServerChannels =>
    serverSubscriptions ? serverChannels(claims, config) : noChannels;
  const decision = refresh(id, session.snapshot, token, channelsOf, nowMs);
  if (decision.outcome !== "reply") return decision;
  const { snapshots, all } = session.subscriptions;
  if (!session.hasRoom(snapshots, decision.changes?.claims)) return tooLarge;
  const identity = { ...session.identity, ...decision.changes };
  const { context, user, subscriptions } = session;
  const client = { context, user, subscriptions, identity };
  for (const subscription of all) {
    const { granted, channel } = subscription;
    const isKept =
      isAllowed(granted, identity.claims, context) &&
      (granted.serverSide === true || refusedByBase(client, channel) === undefined);
    if (isKept) subscription.updateInfo(identity);
    else if (subscription.begun) session.unsubscribe(subscription.channel, unsubscribeCodes.server);
  }
  return decision;
}

/**
 * Carries out a `sub_refresh` that is about the keys which a subscription tracks (docs/protocol.md 3.5).
 *
 * @param tokens with a verdict on each signature
 */
export function changeTracks(
  command: RunningCommand<SubRefreshRequest>,
  tokens: VerifiedTokens,
): void {
  const { session, request, done } = command;
  const { channel, type } = request;
  if (type !== subRefreshTypes.track && type !== subRefreshTypes.untrack) {
    done(refuseWith(errorCodes.badRequest, "SP1", "sub_refresh has an unknown type"));
    return;
  }
  const subscription = session.subscriptions.get(channel);
  if (subscription === undefined) {
    const reason = "the client isn't subscribed to the channel";
    done(refuseWith(errorCodes.permissionDenied, "SP1", reason));
    return;
  }
  const found = session.context.channels.resolve(channel);
  const options = found.outcome === "resolved" ? found.options : undefined;
  const polled = options && typeOf(session, options);
  // The server made the subscription, or it began before the namespace became one of shared polls.
  const isStream = subscription.granted.pollEpoch === undefined;
  if (isStream || options === undefined || polled?.changeTracks === undefined) {
    const reason = "the subscription isn't one to a shared poll";
    done(refuseWith(errorCodes.badRequest, "SP1", reason));
  } else polled.changeTracks({ ...command, subscription, options, tokens });
}

/**
 * Carries out the refresh of one subscription.
 *
 * @param token the command's verified token; undefined if the command carries none
 */
export function carryOutSubRefresh(
  session: CommandSession,
  id: number,
  request: SubRefreshRequest,
  token: SubscriptionVerdict | undefined,
  nowMs: number,
): Decision {
  const { snapshot, subscriptions, identity } = session;
  const refreshed = subRefresh(id, request, snapshot, token, nowMs);
  if (refreshed.outcome !== "refreshed") return refreshed;
  const granted = refreshed.subscription;
  const { channel } = granted;
  const snapshots = subscriptions.snapshots.map((one) => (one.channel === channel ? granted : one));
  if (!session.hasRoom(snapshots))
    return refuseWith(errorCodes.limitExceeded, "G2", "the session is full");
  const subscription = subscriptions.get(channel);
  if (subscription !== undefined && filterText(subscription.granted) !== filterText(granted)) {
    // The client subscribes anew, with this token, and so gets what the new filter lets through (rule A36).
    subscription.insufficientState();
  } else if (subscription !== undefined) {
    // What came before is sent as it was granted then.
    session.context.channels.catchUp(subscription);
    subscription.renew(granted, identity);
  }
  return refreshed.decision;
}

/**
 * Gives a connection another end, and another info and metadata if they are given, as a token of the client's would.
 *
 * @returns false if there is no room for them: nothing is changed
 */
export function changeLife(
  session: CommandSession,
  life: Pick<ConnectionClaims, "expireAtSeconds" | "info" | "meta">,
): boolean {
  const { subscriptions, identity, user } = session;
  const claims = { user, ...identity.claims, ...life };
  if (!fitsAttachment(claims) || !session.hasRoom(subscriptions.snapshots, claims)) return false;
  session.change({ claims });
  for (const subscription of subscriptions.all) subscription.updateInfo(session.identity);
  return true;
}

/** Sends a client the end of its connection, for which it didn't ask. */
export function pushEnd(session: CommandSession, expireAtSeconds: number, nowMs: number): void {
  const expiry = { ttlSeconds: ttlSeconds(expireAtSeconds, nowMs) };
  session.send(session.codec.encodePush({ type: "refresh", expiry }));
}

const noChannels: ServerChannels = new Map();

/**
 * Decides on a connection's new token (rule C7, docs/protocol.md 1.4, item 10).
 *
 * @param channelsFor gives the channels to which the server subscribes a connection with these claims
 */
function refresh(
  id: number,
  snapshot: SessionSnapshot,
  token: ConnectionVerdict | undefined,
  channelsFor: (claims: ConnectionClaims) => ServerChannels,
  nowMs: number,
): Decision {
  if (token === undefined)
    return disconnectWith(disconnectCodes.badRequest, "C7", "the refresh brings no token");
  if (token.outcome !== "verified") return refuseToken(token, codes);
  const { claims } = token;
  if (claims.user !== snapshot.claims?.user)
    return disconnectWith(disconnectCodes.invalidToken, "C3", ofAnother);
  if (hasPassed(claims.expireAtSeconds, nowMs))
    return disconnectWith(disconnectCodes.connectionExpired, "C3", expireAtPassed);
  // Only connect makes server-side subscriptions, so the client has to connect again for other ones (rule C9).
  if (!sameChannels(channelsFor(claims), snapshot))
    return disconnectWith(disconnectCodes.insufficientState, "C9", otherChannels);
  const kept = withShown(withoutSubscriptions(claims), snapshot.claims);
  if (!fitsAttachment(kept)) return tooLarge;
  const result = { ttlSeconds: ttlSeconds(claims.expireAtSeconds, nowMs) };
  return {
    outcome: "reply",
    reply: { id, method: "refresh", result },
    // From now on it is a connection with a token.
    changes: { claims: kept, ...(snapshot.byHook === true ? { byHook: false } : {}) },
  };
}

const otherChannels = "the token names other channels than the one before";

const codes = {
  invalid: disconnectCodes.invalidToken,
  expired: disconnectCodes.connectionExpired,
};

/** The claims with the info and the metadata of before, where the new token has none (rule C13). */
function withShown(claims: ConnectionClaims, { info, meta }: ConnectionClaims): ConnectionClaims {
  const isKept = claims.info === undefined && info !== undefined;
  const withInfo = isKept ? { ...claims, info } : claims;
  return claims.meta === undefined && meta !== undefined ? { ...withInfo, meta } : withInfo;
}

function sameChannels(channels: ServerChannels, { subscriptions }: SessionSnapshot): boolean {
  const current = subscriptions.filter(
    ({ serverSide, ordered }) => serverSide === true && ordered !== true,
  );
  const isSame = (one: SubscriptionSnapshot) => channels.get(one.channel) === filterText(one);
  return current.length === channels.size && current.every(isSame);
}

/** The renewed subscription with the reply, or another decision on the command. */
type SubRefreshed =
  | {
      readonly outcome: "refreshed";
      readonly subscription: SubscriptionSnapshot;
      readonly decision: Decision;
    }
  | Decision;

/** Decides on a subscription's new token (rules A4 and C7, docs/protocol.md 1.4, item 11). */
function subRefresh(
  id: number,
  request: SubRefreshRequest,
  snapshot: SessionSnapshot,
  token: SubscriptionVerdict | undefined,
  nowMs: number,
): SubRefreshed {
  if (request.channel === "")
    return disconnectWith(disconnectCodes.badRequest, "W1", "the channel name is empty");
  const subscription = snapshot.subscriptions.find(({ channel }) => channel === request.channel);
  if (subscription === undefined) {
    const reason = "the client isn't subscribed to the channel";
    return refuseWith(errorCodes.permissionDenied, "W1", reason);
  }
  if (token === undefined || request.type !== 0) return badRequest;
  if (token.outcome !== "verified")
    return refuseToken(token, { ...codes, expired: disconnectCodes.subscriptionExpired });
  const { expireAtSeconds, info, serverFilter, issuedAtSeconds = 0, uid } = token.claims;
  const requester = { user: snapshot.claims?.user ?? "", client: snapshot.client };
  const unbound = unboundReason(token.claims, request.channel, requester);
  if (unbound !== undefined) return disconnectWith(disconnectCodes.invalidToken, "A4", unbound);
  if (hasPassed(expireAtSeconds, nowMs))
    return disconnectWith(disconnectCodes.subscriptionExpired, "C3", expireAtPassed);
  const result = { ttlSeconds: ttlSeconds(expireAtSeconds, nowMs) };
  const {
    serverFilter: _,
    uid: __,
    // What a token prolongs ends with it, and no backend is asked about it any more (rule Q9).
    serverRefresh: ___,
    ...kept
  } = subscription;
  const shown = info === undefined ? {} : { chanInfo: info };
  const filtered = serverFilter === undefined ? {} : { serverFilter };
  return {
    outcome: "refreshed",
    subscription: {
      ...kept,
      ...shown,
      ...filtered,
      expireAtSeconds,
      issuedAtSeconds,
      ...(uid === undefined ? {} : { uid }),
    },
    decision: { outcome: "reply", reply: { id, method: "sub_refresh", result } },
  };
}
