import { hasPassed } from "../moment.ts";
import { type Capability, capabilitiesOn } from "../access/capabilities.ts";
import {
  type ConnectionClaims,
  type ServerSubscription,
  type SubscribeTerms,
  type SubscriptionOverride,
  type SubscriptionVerdict,
  unboundReason,
} from "../access/claims.ts";
import { type KnownChannel, unknownNamespace } from "../channel/channel-name.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import { type SubscribeRequest, subscriptionTypes, type FilterNode } from "../protocol/command.ts";
import type { JsonText } from "../protocol/json/text.ts";
import { tagsFilter } from "../protocol/tags-filter.ts";
import { ttlSeconds } from "./liveness.ts";
import { refusedByBase } from "./dependence/dependents.ts";
import type { CommandSession, SessionContext } from "./ports.ts";
import {
  type Caller,
  hasHistory,
  type May,
  mayHearJoins,
  mayReadHistory,
  maySubscribe,
} from "./may.ts";
import {
  badRequest,
  cancelled,
  type Decision,
  disconnectWith,
  expireAtPassed,
  type Grant,
  refuse,
  refuseByOptions,
  refuseToken,
  refuseWith,
} from "./decision.ts";
import type { SubscriptionSnapshot } from "../contract/session-snapshot.ts";

/** The user and the client that a subscription is for. */
export interface Requester {
  readonly user: string;
  readonly client: string;
  /** The capabilities of the connection's token on the channel, see {@link capabilitiesOf}; absent if it has none. */
  readonly capabilities?: readonly Capability[];
}

/** The user and the client of a session, as they subscribe to a channel. */
export function requesterOf(
  { identity, user }: Pick<CommandSession, "identity" | "user">,
  channel: string,
): Requester {
  return { client: identity.client, user, ...capabilitiesOf(identity.claims, channel) };
}

/**
 * Decides how a client subscribes, if it may (rules A1, A4 and A5, docs/protocol.md 1.6 and 5.5).
 *
 * @param may   whether it may, if a token that it brings does
 * @param token the verified subscription token; undefined if the command carries none
 * @returns the grant, or the decision on the command if there is none
 */
export function grantSubscription(
  { context: { config } }: CommandSession,
  request: SubscribeRequest,
  channel: KnownChannel,
  requester: Requester,
  may: May,
  token: SubscriptionVerdict | undefined,
  nowMs: number,
): Grant | Decision {
  const unfit = unfitFor(channel, request);
  if (unfit !== undefined) return unfit;
  if (!may.allowed) return refuse(may);
  if (token === undefined) {
    const grant = grantedAsRequested(request, channel, requester, namespaceTerms);
    const { user } = requester;
    const isOpen = maySubscribe(channel, { user }, config.channel).allowed === true;
    if (grant.outcome !== "granted" || isOpen) return grant;
    return { ...grant, subscription: { ...grant.subscription, byCapability: true } };
  }
  if (token.outcome !== "verified") return refuseToken(token, codes);
  const { claims: verified } = token;
  const unbound = unboundReason(verified, request.channel, requester);
  if (unbound !== undefined) return disconnectWith(disconnectCodes.invalidToken, "A4", unbound);
  if (hasPassed(verified.expireAtSeconds, nowMs))
    return refuseWith(errorCodes.expired, "C3", expireAtPassed);
  const terms = { ...verified, issuedAtSeconds: verified.issuedAtSeconds ?? 0 };
  return grantedAsRequested(request, channel, requester, terms);
}

const codes = { invalid: errorCodes.permissionDenied, expired: errorCodes.tokenExpired };

/**
 * Grants what a backend allows. As in Centrifugo the client's wishes for positions, recovery, joins and leaves have no
 * effect: only the namespace and the backend switch them on (docs/protocol.md 5.5).
 *
 * @param terms undefined before the backend is asked, for finding out what no backend could allow
 * @returns the grant, or the decision on the command if there is none
 */
export function grantByHook(
  request: SubscribeRequest,
  channel: KnownChannel,
  requester: Requester,
  terms: SubscribeTerms | undefined,
): Grant | Decision {
  const unfit = unfitFor(channel, request);
  if (unfit !== undefined) return unfit;
  const bare = { ...request, positioned: false, recoverable: false, joinLeave: false };
  const grant = grantedAsRequested(bare, channel, requester, terms ?? namespaceTerms);
  if (grant.outcome !== "granted" || channel.options.subRefreshHook === undefined) return grant;
  return { ...grant, subscription: { ...grant.subscription, serverRefresh: true } };
}

/** The refusal of a request that no channel with such options takes; undefined if this one does. */
function unfitFor(
  { options: { subscriptionType } }: KnownChannel,
  { type, delta }: SubscribeRequest,
): Decision | undefined {
  if (type !== subscriptionTypes[subscriptionType]) {
    const reason = `subscription_type is ${subscriptionType}`;
    return refuseByOptions(errorCodes.permissionDenied, "W1", reason);
  }
  return delta === "" || delta === "fossil"
    ? undefined
    : disconnectWith(disconnectCodes.badRequest, "W1", "delta has an unknown value");
}

/** Grants a server-side subscription. Nothing is requested, except recovery, and nothing is refused. */
export function grantServerSubscription(
  subscription: ServerSubscription,
  channel: KnownChannel,
  requester: Requester,
  { recoverable } = { recoverable: false },
): Grant {
  const request = { channel: subscription.channel, ...nothingRequested, recoverable };
  const grant = granted(request, channel, requester, { ...subscription, expireAtSeconds: 0 });
  return { ...grant, subscription: { ...grant.subscription, serverSide: true } };
}

/** Finds the channel that a command names, or else decides on the command. */
export function findChannel({ context }: CommandSession, name: string): KnownChannel | Decision {
  const { config } = context;
  const resolved = context.channels.resolve(name);
  switch (resolved.outcome) {
    case "bad-name":
      return name === ""
        ? disconnectWith(disconnectCodes.badRequest, "W1", resolved.reason)
        : refuseWith(errorCodes.badRequest, "W1", resolved.reason);
    case "unknown-namespace":
      return context.channel !== undefined && context.channel !== name
        ? refuseWith(errorCodes.unknownChannel, "C6", otherChannel)
        : refuseWith(errorCodes.unknownChannel, "W1", unknownNamespace(name, config.channel));
    case "resolved":
      return resolved;
  }
}

const otherChannel = "only the channel of the address exists at this address";

/**
 * Refuses a tags filter that isn't allowed or valid: without it, the client would get publications it doesn't want
 * (rule D4).
 */
function grantedAsRequested(
  request: SubscribeRequest,
  channel: KnownChannel,
  requester: Requester,
  terms: Terms,
): Grant | Decision {
  const { filter } = request;
  if (filter !== undefined && !(channel.options.allowTagsFilter && isValid(filter)))
    return badRequest;
  return granted(request, channel, requester, terms);
}

function isValid(filter: FilterNode): boolean {
  return tagsFilter(filter) !== undefined;
}

/** The terms of a subscription that a token, or the server, sets. */
interface Terms {
  readonly expireAtSeconds: number;
  readonly info?: JsonText;
  readonly data?: JsonText;
  readonly serverFilter?: FilterNode;
  readonly members?: readonly string[];
  readonly override: SubscriptionOverride;
  /** The `iat` of the subscription token, or 0; absent without such a token. */
  readonly issuedAtSeconds?: number;
  /** The `jti` of the subscription token. */
  readonly uid?: string;
}

const namespaceTerms: Terms = { expireAtSeconds: 0, override: {} };

const nothingRequested = { positioned: false, recoverable: false, joinLeave: false, delta: "" };

type RequestedOptions = Pick<
  SubscribeRequest,
  "channel" | "positioned" | "recoverable" | "joinLeave" | "delta" | "filter"
>;

function granted(
  request: RequestedOptions,
  channel: KnownChannel,
  requester: Requester,
  { expireAtSeconds, info, data, serverFilter, members, override, issuedAtSeconds, uid }: Terms,
): Grant {
  // The permissions of a subscriber hold for the subscription that is being granted, too.
  const { options } = channel;
  const caller = { ...requester, subscribed: true };
  const readsHistory = mayReadHistory(channel, caller).allowed;
  const isKept = hasHistory(options);
  const recoverable =
    isKept &&
    // Other types than streams have no history, or need it.
    (options.subscriptionType !== "stream" ||
      (override.forceRecovery ?? options.forceRecovery) ||
      (request.recoverable && (options.allowRecovery || readsHistory)));
  const positioned =
    recoverable ||
    (isKept &&
      ((override.forcePositioning ?? options.forcePositioning) ||
        (request.positioned && (options.allowPositioning || readsHistory))));
  const { filter } = request;
  // Filtered publications would be missing between the others, so there would be no base for the next delta.
  const isFiltered = (filter ?? serverFilter) !== undefined;
  const delta = request.delta !== "" && options.allowDelta && positioned && !isFiltered;
  const announced = override.joinLeave ?? options.joinLeave;
  const forced = override.forcePushJoinLeave ?? options.forcePushJoinLeave;
  const subscription: SubscriptionSnapshot = {
    channel: request.channel,
    expireAtSeconds,
    present: override.presence ?? options.presence,
    ...(override.presence === false ? { hidden: true } : {}),
    announced,
    hearsJoinLeave:
      announced && (forced || (request.joinLeave && mayHearJoins(channel, caller).allowed)),
    ...(info === undefined ? {} : { chanInfo: info }),
    ...(recoverable ? { recoverable } : {}),
    ...(positioned && !recoverable ? { positioned } : {}),
    ...(delta ? { delta } : {}),
    ...(filter === undefined ? {} : { filter }),
    ...(serverFilter === undefined ? {} : { serverFilter }),
    ...(members && { members }),
    ...(issuedAtSeconds === undefined ? {} : { issuedAtSeconds }),
    ...(uid === undefined ? {} : { uid }),
  };
  return {
    outcome: "granted",
    subscription,
    positioned,
    recoverable,
    ...(data === undefined ? {} : { data }),
  };
}

/**
 * The `ttl` of a subscription in a reply, in seconds; 0 for none. A reply has no end before which the server asks a
 * backend (rule Q9).
 */
export function replyTtlSeconds({ subscription }: Grant, nowMs: number): number {
  return subscription.serverRefresh === true ? 0 : ttlSeconds(subscription.expireAtSeconds, nowMs);
}

/**
 * Finds the capabilities that a connection's token has on a channel, beside the namespace's options (rule A16).
 *
 * @param name of the channel
 */
export function capabilitiesOf(
  claims: ConnectionClaims | undefined,
  name: string,
): { readonly capabilities?: readonly Capability[] } {
  const text = claims?.capabilities;
  return text === undefined ? {} : { capabilities: capabilitiesOn(text, name) };
}

/**
 * Whether the claims of a connection allow a subscription that was granted before: one by capability ends with it (rule
 * A34).
 */
export function isAllowed(
  { channel, byCapability }: SubscriptionSnapshot,
  claims: ConnectionClaims | undefined,
  { channels, config }: Pick<SessionContext, "channels" | "config">,
): boolean {
  if (byCapability !== true) return true;
  const known = channels.resolve(channel);
  if (known.outcome !== "resolved") return false;
  const caller = { user: claims?.user ?? "", ...capabilitiesOf(claims, channel) };
  return maySubscribe(known, caller, config.channel).allowed === true;
}

/** The decision on a subscribe if it was ended while it was under way, or what allowed it was; undefined if neither was. */
export function endOf(session: CommandSession, one: SubscriptionSnapshot): Decision | undefined {
  if (session.takeCancelled(one.channel)) return cancelled;
  return isAllowed(one, session.identity.claims, session.context)
    ? refusedByBase(session, one.channel)
    : refuseWith(errorCodes.permissionDenied, "A34", "the capability for it has ended meanwhile");
}

/** A session as it sends a command for a channel that it may be subscribed to. */
export function callerOf(
  { user, identity, subscriptions }: Pick<CommandSession, "user" | "identity" | "subscriptions">,
  channel: string,
): Caller {
  const subscription = subscriptions.get(channel);
  const own = capabilitiesOf(identity.claims, channel);
  if (subscription === undefined) return { user, subscribed: false, ...own };
  return { user, subscribed: true, filtered: subscription.serverFiltered, ...own };
}
