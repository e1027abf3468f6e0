/**
 * The permissions of a client on a channel, with the reasons: one function a question. Sessions act by the answers, errors and
 * the log quote their reasons, and the console's page Namespaces asks for each kind of client there is (rule N29). A
 * feature has its own questions in its folder, in a file of this name.
 */
import type { Capability } from "../access/capabilities.ts";
import type { ChannelOptions, Config } from "../config/config.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";

/** Whether a client may do something. */
export type May = { readonly allowed: true } | NotAllowed;

/** The same, where a backend may decide. */
export type MayByBackend<Backend> = May | AskedBackend<Backend>;

/** A backend is asked whether a client may do something. */
interface AskedBackend<Backend> {
  readonly allowed: "asked";
  readonly by: Backend;
}

/** Why a client may not do something: the rule and the reason, and the error of its command. */
export interface NotAllowed {
  readonly allowed: false;
  readonly because: string;
  readonly rule: string;
  readonly error: ErrorCode;
  /** The reason is about options of the channel's namespace. */
  readonly ofNamespace?: true;
}

export const allowed: May = { allowed: true };

/** A channel, as far as it decides who may do what: its name (rule A5) and the options of its namespace. */
export interface AskedChannel<Options> {
  readonly private: boolean;
  readonly users?: readonly string[];
  readonly options: Options;
}

/** The client that asks. */
export interface Caller {
  /** User ID; "" for anonymous. */
  readonly user: string;
  /** Whether it is subscribed to the channel. */
  readonly subscribed: boolean;
  /** The capabilities that its connection's token gives it on the channel beside the namespace (rule A16); absent if it has no such claim. */
  readonly capabilities?: readonly Capability[];
  /** It brings a subscription token for the channel. Whether that is a valid one is another question. */
  readonly hasToken?: boolean;
  /** The server holds publications back from its subscription (rule A17). */
  readonly filtered?: boolean;
}

type SubscribeRules<Backend> = Pick<
  ChannelOptions,
  "allowSubscribeForClient" | "allowSubscribeForAnonymous"
> & { readonly subscribeHook?: Backend };

/**
 * Whether a client may subscribe (docs/protocol.md 5.5, steps 1 to 7). The name of a channel says more than a capability:
 * a private or user-limited channel isn't opened by one.
 */
export function maySubscribe<Backend>(
  channel: AskedChannel<SubscribeRules<Backend>>,
  { user, capabilities, hasToken }: Omit<Caller, "subscribed">,
  { privatePrefix }: Pick<Config["channel"], "privatePrefix">,
): MayByBackend<Backend> {
  if (hasToken === true) return allowed;
  if (channel.private) return denied("A5", `a ${privatePrefix} channel needs a token`);
  // A user-limited channel is for the users that it names and no others, whatever the namespace allows.
  if (channel.users !== undefined)
    return user !== "" && channel.users.includes(user)
      ? allowed
      : denied("A5", "the channel is limited to other users");
  const { allowSubscribeForClient, allowSubscribeForAnonymous, subscribeHook } = channel.options;
  if (subscribeHook !== undefined) return { allowed: "asked", by: subscribeHook };
  if (allowSubscribeForClient && (user !== "" || allowSubscribeForAnonymous)) return allowed;
  if (capabilities?.includes("sub") === true) return allowed;
  const reason = allowSubscribeForClient
    ? "allow_subscribe_for_anonymous is off and the user is anonymous"
    : "allow_subscribe_for_client is off and there is no token";
  return deniedByOptions("A1", `${reason}${capabilities === undefined ? "" : notCapable("sub")}`);
}

type PublishRules<Backend> = ClosingRules &
  Pick<
    ChannelOptions,
    | "subscriptionType"
    | "allowPublishForClient"
    | "allowPublishForSubscriber"
    | "allowPublishForAnonymous"
  > & { readonly publishHook?: Backend };

/** Whether a client may publish to a channel without keys of its clients. */
export function mayPublish<Backend>(
  channel: AskedChannel<PublishRules<Backend>>,
  caller: Caller,
): MayByBackend<Backend> {
  const { options } = channel;
  const { subscriptionType, publishHook } = options;
  const isAllowed =
    publishHook === undefined
      ? isPermitted(channel, caller, "pub", {
          client: options.allowPublishForClient,
          subscriber: options.allowPublishForSubscriber,
          anonymous: options.allowPublishForAnonymous,
        })
      : !isClosed(channel, caller);
  if (!isAllowed) return notPermitted(caller, "publish");
  if (subscriptionType !== "stream") return onlyBackends;
  return publishHook === undefined ? allowed : { allowed: "asked", by: publishHook };
}

const onlyBackends: NotAllowed = {
  allowed: false,
  because: "only backends publish to such a channel",
  rule: "SP11",
  error: errorCodes.badRequest,
};

type PresenceRules = ClosingRules &
  Pick<
    ChannelOptions,
    "allowPresenceForClient" | "allowPresenceForSubscriber" | "allowPresenceForAnonymous"
  >;

/** Whether a client may see who is present. */
export function maySeePresence(
  channel: AskedChannel<PresenceRules & Pick<ChannelOptions, "presence">>,
  caller: Caller,
): May {
  return channel.options.presence ? mayHearJoins(channel, caller) : switchedOff("presence");
}

/** Whether a client that subscribes may ask for joins and leaves, whether presence is on or not. */
export function mayHearJoins(channel: AskedChannel<PresenceRules>, caller: Caller): May {
  const { options } = channel;
  const permission = {
    client: options.allowPresenceForClient,
    subscriber: options.allowPresenceForSubscriber,
    anonymous: options.allowPresenceForAnonymous,
  };
  return isPermitted(channel, caller, "prs", permission)
    ? allowed
    : notPermitted(caller, "presence");
}

type HistoryRules = ClosingRules &
  Pick<
    ChannelOptions,
    | "subscriptionType"
    | "historySize"
    | "historyTtlMs"
    | "allowHistoryForClient"
    | "allowHistoryForSubscriber"
    | "allowHistoryForAnonymous"
  >;

/** Whether a client may read the history. */
export function mayReadHistory(channel: AskedChannel<HistoryRules>, caller: Caller): May {
  const { options } = channel;
  if (!hasHistory(options)) return switchedOff("history");
  if (caller.filtered === true) return denied("A17", "the subscription has a server_tags_filter");
  const permission = {
    client: options.allowHistoryForClient,
    subscriber: options.allowHistoryForSubscriber,
    anonymous: options.allowHistoryForAnonymous,
  };
  if (!isPermitted(channel, caller, "hst", permission)) return notPermitted(caller, "history");
  return options.subscriptionType === "stream" ? allowed : noStream;
}

/** A map keeps the changes of its keys, and no history (docs/protocol.md 3.4). */
const noStream: NotAllowed = {
  allowed: false,
  because: "a map's changes are read by subscribing to it",
  rule: "W1",
  error: errorCodes.notAvailable,
};

/** Whether publications are kept; of a map, its changes. */
export function hasHistory({
  historySize,
  historyTtlMs,
}: Pick<ChannelOptions, "historySize" | "historyTtlMs">): boolean {
  return historySize > 0 && historyTtlMs > 0;
}

/**
 * Whether a client may call a method that the server hasn't itself: a backend answers it. Its namespace may not be
 * configured although others are, or the hook isn't switched on (docs/protocol.md 1.6).
 */
export function mayCall<Backend>(
  method: string,
  { withoutNamespace, namespaces, namespaceBoundary }: CallRules<Backend>,
): AskedBackend<Backend> | NotAllowed {
  const boundary = namespaceBoundary === "" ? -1 : method.indexOf(namespaceBoundary);
  const namespace = method.slice(0, boundary);
  const isKnown = boundary < 0 || namespaces.has(namespace);
  const by = boundary < 0 ? withoutNamespace : namespaces.get(namespace);
  if (by !== undefined) return { allowed: "asked", by };
  const isOff = isKnown || (withoutNamespace === undefined && namespaces.size === 0);
  return isOff
    ? refused(errorCodes.notAvailable, "W1", "rpc isn't available")
    : refused(
        errorCodes.methodNotFound,
        "W1",
        "rpc.namespaces doesn't have the method's namespace",
      );
}

interface CallRules<Backend> {
  readonly withoutNamespace?: Backend;
  readonly namespaces: ReadonlyMap<string, Backend | undefined>;
  readonly namespaceBoundary: string;
}

type ClosingRules = Pick<ChannelOptions, "limitedChannelsForSubscribersOnly">;

/** Whether nothing on the channel is for this client, because nobody but subscribers does anything there (rule A5). */
export function isClosed(
  { private: isPrivate, users, options }: AskedChannel<ClosingRules>,
  { subscribed }: Caller,
): boolean {
  const isLimited = isPrivate || users !== undefined;
  return isLimited && options.limitedChannelsForSubscribersOnly && !subscribed;
}

/** The clients to which the namespace allows a command. */
export interface Permission {
  readonly client: boolean;
  readonly subscriber: boolean;
  readonly anonymous: boolean;
}

/** Whether a client may do something that needs a capability, or one of these permissions of the namespace. */
export function isPermitted(
  channel: AskedChannel<ClosingRules>,
  caller: Caller,
  capability: Capability,
  permission: Permission,
): boolean {
  if (isClosed(channel, caller)) return false;
  if (caller.capabilities?.includes(capability) === true) return true;
  if (caller.user === "" && !permission.anonymous) return false;
  return permission.client || (permission.subscriber && caller.subscribed);
}

/** Neither the namespace nor a capability permits the command (rules A1 and A16). */
function notPermitted(
  { capabilities }: Caller,
  command: "publish" | "presence" | "history",
): NotAllowed {
  const capability = capabilityFor[command];
  let lacking = "";
  if (capabilities !== undefined)
    lacking = capabilities.includes(capability)
      ? ", and the caps of its token count for subscribers only"
      : notCapable(capability);
  return deniedByOptions("A1", `no allow_${command}_for_… option lets this client${lacking}`);
}

const capabilityFor = { publish: "pub", presence: "prs", history: "hst" } as const;

function notCapable(capability: Capability): string {
  return `, and the caps of its token don't allow ${capability}`;
}

function switchedOff(what: "presence" | "history"): NotAllowed {
  return { ...refused(errorCodes.notAvailable, "W1", `${what} is off`), ofNamespace: true };
}

/** Refuses for lack of a permission. */
export function denied(rule: string, because: string): NotAllowed {
  return refused(errorCodes.permissionDenied, rule, because);
}

/** The same, for a reason about options of the channel's namespace. */
export function deniedByOptions(rule: string, because: string): NotAllowed {
  return { ...denied(rule, because), ofNamespace: true };
}

/** Refuses with this error. */
export function refused(error: ErrorCode, rule: string, because: string): NotAllowed {
  return { allowed: false, because, rule, error };
}
