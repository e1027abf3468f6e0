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
import type { Channels } from "./channels.ts";
import { refusedByBase } from "./dependence/dependents.ts";
import type { CommandSession } from "./ports.ts";
import {
  badRequest,
  cancelled,
  type Decision,
  disconnectWith,
  expireAtPassed,
  type Grant,
  refuseByOptions,
  refuseToken,
  refuseWith,
} from "./decision.ts";
import type { SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import type { ChannelConfig, ChannelOptions, HookTarget } from "../config/config.ts";

/** The user and the client that a subscription is for. */
export interface Requester {
  readonly user: string;
  readonly client: string;
  /** The capabilities of the connection's token on the channel, see {@link capabilitiesOf}; absent if it has none. */
  readonly capabilities?: readonly Capability[];
}

/**
 * Decides whether and how a client may subscribe (rules A1, A4 and A5, docs/protocol.md 1.6 and 5.5).
 *
 * @param token the verified subscription token; undefined if the command carries none
 * @returns the grant, or the decision on the command if there is none
 */
export function grantSubscription(
  { identity, user, context }: CommandSession,
  request: SubscribeRequest,
  channel: KnownChannel,
  token: SubscriptionVerdict | undefined,
  nowMs: number,
): Grant | Decision {
  const unfit = unfitFor(channel, request);
  if (unfit !== undefined) return unfit;
  const { client, claims } = identity;
  const capabilities = capabilitiesOf(claims, request.channel, channel, true);
  const requester = { client, user, ...capabilities };
  if (token === undefined) {
    if (!maySubscribe(channel, requester))
      return notSubscribed(channel, requester, context.config.channel);
    const grant = grantedAsRequested(request, channel, requester, namespaceTerms);
    if (grant.outcome !== "granted" || maySubscribe(channel, { user: requester.user }))
      return grant;
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

/** The backend that decides on a subscribe without a token (docs/protocol.md 5.5); undefined if none does. */
export function subscribeHookOf({
  private: isPrivate,
  users,
  options,
}: KnownChannel): HookTarget | undefined {
  return isPrivate || users !== undefined ? undefined : options.subscribeHook;
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

/** The refusal of a client for which {@link maySubscribe} is false. */
function notSubscribed(
  { private: isPrivate, users, options }: KnownChannel,
  { capabilities }: Requester,
  { privatePrefix }: ChannelConfig,
): Decision {
  const { permissionDenied } = errorCodes;
  if (isPrivate)
    return refuseWith(permissionDenied, "A5", `a ${privatePrefix} channel needs a token`);
  if (users !== undefined)
    return refuseWith(permissionDenied, "A5", "the channel is limited to other users");
  const reason = options.allowSubscribeForClient
    ? "allow_subscribe_for_anonymous is off and the user is anonymous"
    : "allow_subscribe_for_client is off and there is no token";
  const lacking = capabilities === undefined ? "" : notCapable("sub");
  return refuseByOptions(permissionDenied, "A1", `${reason}${lacking}`);
}

/** The refusal of a client that neither the namespace nor a capability of its token permits a command (rule A16). */
export function notPermitted(
  { identity }: CommandSession,
  command: "publish" | "presence" | "history",
  channel: string,
): Decision {
  const { capabilities: text } = identity.claims ?? {};
  const capability = capabilityFor[command];
  let lacking = "";
  if (text !== undefined)
    lacking = capabilitiesOn(text, channel).includes(capability)
      ? ", and the caps of its token count for subscribers only"
      : notCapable(capability);
  const reason = `no allow_${command}_for_… option lets this client${lacking}`;
  return refuseByOptions(errorCodes.permissionDenied, "A1", reason);
}

const capabilityFor = { publish: "pub", presence: "prs", history: "hst" } as const;

function notCapable(capability: Capability): string {
  return `, and the caps of its token don't allow ${capability}`;
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
  { options }: KnownChannel,
  requester: Requester,
  { expireAtSeconds, info, data, serverFilter, members, override, issuedAtSeconds, uid }: Terms,
): Grant {
  // The permissions of a subscriber hold for the subscription that is being granted, too.
  const caller = { ...requester, subscribed: true };
  const readsHistory = mayReadHistory(options, caller);
  const hasHistory = options.historySize > 0 && options.historyTtlMs > 0;
  const recoverable =
    hasHistory &&
    // Other types than streams have no history, or need it.
    (options.subscriptionType !== "stream" ||
      (override.forceRecovery ?? options.forceRecovery) ||
      (request.recoverable && (options.allowRecovery || readsHistory)));
  const positioned =
    recoverable ||
    (hasHistory &&
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
    hearsJoinLeave: announced && (forced || (request.joinLeave && maySeePresence(options, caller))),
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

/** The client that sends a command for a channel. */
export interface Caller {
  /** User ID; "" for anonymous. */
  readonly user: string;
  /** Whether it is subscribed to that channel. */
  readonly subscribed: boolean;
  /** As of {@link Requester}. */
  readonly capabilities?: readonly Capability[];
}

/**
 * Finds the capabilities that a connection's token has on a channel, beside the namespace's options (rule A16).
 *
 * @param name       of the channel
 * @param subscribed whether the client is subscribed to the channel, or is about to be
 */
export function capabilitiesOf(
  claims: ConnectionClaims | undefined,
  name: string,
  { private: isPrivate, users, options }: KnownChannel,
  subscribed: boolean,
): { readonly capabilities?: readonly Capability[] } {
  if (claims?.capabilities === undefined) return {};
  // Nobody but subscribers publishes to such a channel or reads it (rule A5).
  const isLimited = isPrivate || users !== undefined;
  if (isLimited && options.limitedChannelsForSubscribersOnly && !subscribed) return {};
  return { capabilities: capabilitiesOn(claims.capabilities, name) };
}

/**
 * Whether a client may subscribe to a channel without a subscription token (rule A5, docs/protocol.md 5.5, steps 2 to
 * 7). The name of a channel says more than a capability: a private or user-limited channel isn't opened by one.
 */
export function maySubscribe(
  channel: KnownChannel,
  { user, capabilities = [] }: Pick<Caller, "user" | "capabilities">,
): boolean {
  if (channel.private) return false;
  // A user-limited channel is for the users that it names and no others, whatever the namespace allows.
  if (channel.users !== undefined) return user !== "" && channel.users.includes(user);
  // A backend decides, and isn't asked here (rule Q15).
  if (channel.options.subscribeHook !== undefined) return false;
  const { allowSubscribeForClient, allowSubscribeForAnonymous } = channel.options;
  const isOpen = allowSubscribeForClient && (user !== "" || allowSubscribeForAnonymous);
  return isOpen || capabilities.includes("sub");
}

/**
 * Whether the claims of a connection allow a subscription that was granted before: one by capability ends with it (rule
 * A34).
 */
export function isAllowed(
  { channel, byCapability }: SubscriptionSnapshot,
  claims: ConnectionClaims | undefined,
  channels: Channels,
): boolean {
  if (byCapability !== true) return true;
  const known = channels.resolve(channel);
  if (known.outcome !== "resolved") return false;
  const user = claims?.user ?? "";
  return maySubscribe(known, { user, ...capabilitiesOf(claims, channel, known, true) });
}

/** The decision on a subscribe if it was ended while it was under way, or what allowed it was; undefined if neither was. */
export function endOf(session: CommandSession, one: SubscriptionSnapshot): Decision | undefined {
  if (session.takeCancelled(one.channel)) return cancelled;
  return isAllowed(one, session.identity.claims, session.context.channels)
    ? refusedByBase(session, one.channel)
    : refuseWith(errorCodes.permissionDenied, "A34", "the capability for it has ended meanwhile");
}

/** A session as it sends a command for a channel that it may be subscribed to. */
export function callerOf(
  { user, identity, subscriptions }: Pick<CommandSession, "user" | "identity" | "subscriptions">,
  channel: string,
  known: KnownChannel,
): Caller {
  const subscribed = subscriptions.get(channel) !== undefined;
  return { user, subscribed, ...capabilitiesOf(identity.claims, channel, known, subscribed) };
}

/** Whether a backend, or the options of a map, may allow a publish: not where nobody but subscribers publishes (rule A5). */
export function mayAsk(
  { private: isPrivate, users, options }: KnownChannel,
  caller: Caller,
): boolean {
  const isLimited = isPrivate || users !== undefined;
  return !isLimited || !options.limitedChannelsForSubscribersOnly || caller.subscribed;
}

/** Whether a client may publish to the channel. */
export function mayPublish(options: ChannelOptions, caller: Caller): boolean {
  return isPermitted(caller, "pub", {
    client: options.allowPublishForClient,
    subscriber: options.allowPublishForSubscriber,
    anonymous: options.allowPublishForAnonymous,
  });
}

/** Whether a client may read presence, provided that the namespace has presence. */
export function maySeePresence(options: ChannelOptions, caller: Caller): boolean {
  return isPermitted(caller, "prs", {
    client: options.allowPresenceForClient,
    subscriber: options.allowPresenceForSubscriber,
    anonymous: options.allowPresenceForAnonymous,
  });
}

/** Whether a client may read the history, provided that the namespace has history. */
export function mayReadHistory(options: ChannelOptions, caller: Caller): boolean {
  return isPermitted(caller, "hst", {
    client: options.allowHistoryForClient,
    subscriber: options.allowHistoryForSubscriber,
    anonymous: options.allowHistoryForAnonymous,
  });
}

/** The clients to which the namespace allows a command. */
interface Permission {
  readonly client: boolean;
  readonly subscriber: boolean;
  readonly anonymous: boolean;
}

/** Whether a client may do something that needs a capability, or one of these permissions of the namespace. */
export function isPermitted(
  caller: Caller,
  capability: Capability,
  permission: Permission,
): boolean {
  if (caller.capabilities?.includes(capability) === true) return true;
  if (caller.user === "" && !permission.anonymous) return false;
  return permission.client || (permission.subscriber && caller.subscribed);
}
