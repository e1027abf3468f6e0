import type {
  ConnectionState,
  ShownToken,
  SubscriptionState,
} from "../contract/connection-state.ts";
import type { SessionIdentity, SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import { maySubscribe } from "./may.ts";
import type { CommandSession } from "./ports.ts";
import { personalChannel } from "./server-subscriptions.ts";

/** A connected session as backends are shown it (rule U20). */
export function connectionState(session: CommandSession): ConnectionState {
  const { identity, context, user, subscriptions } = session;
  const { appName, appVersion, claims } = identity;
  return {
    client: identity.client,
    user,
    node: context.node,
    ...(appName === undefined ? {} : { appName }),
    ...(appVersion === undefined ? {} : { appVersion }),
    transport: transportOf(identity),
    protocol: protocolOf(identity),
    connectedAtMs: identity.openedAtMs,
    expireAtSeconds: claims?.expireAtSeconds ?? 0,
    ...shownToken(claims?.uid, claims?.issuedAtSeconds),
    subscriptions: subscriptions.all
      .filter(({ begun }) => begun)
      .map(({ granted }) => subscriptionState(session, granted)),
  };
}

/** Sessions as backends are shown them, as far as somebody asks for them. */
export function* connectionStates(sessions: readonly CommandSession[]): Generator<ConnectionState> {
  for (const session of sessions) yield connectionState(session);
}

function subscriptionState(
  session: CommandSession,
  granted: SubscriptionSnapshot,
): SubscriptionState {
  const { channel, expireAtSeconds } = granted;
  const position = session.context.channels.position(channel);
  return {
    channel,
    source: sourceOf(session, granted),
    expireAtSeconds,
    ...shownToken(granted.uid, granted.issuedAtSeconds),
    ...(position === undefined ? {} : { position }),
    options: optionsOf(granted),
  };
}

/** A token without `iat` is kept as one that was issued in 1970. */
function shownToken(
  uid: string | undefined,
  issuedAtSeconds: number | undefined,
): { readonly token?: ShownToken } {
  const token = {
    ...(uid === undefined ? {} : { uid }),
    ...(issuedAtSeconds === undefined || issuedAtSeconds === 0 ? {} : { issuedAtSeconds }),
  };
  return Object.keys(token).length === 0 ? {} : { token };
}

function optionsOf(granted: SubscriptionSnapshot): readonly string[] {
  const { recoverable, positioned, present, announced, hearsJoinLeave, delta } = granted;
  const all: readonly (readonly [string, boolean | undefined])[] = [
    ["recoverable", recoverable],
    ["positioned", recoverable ?? positioned],
    ["presence", present],
    ["join_leave", announced],
    ["push_join_leave", hearsJoinLeave],
    ["delta", delta],
    ["tags_filter", granted.filter !== undefined],
    ["server_tags_filter", granted.serverFilter !== undefined],
  ];
  return all.filter(([, isOn]) => isOn === true).map(([name]) => name);
}

/**
 * What made a subscription. It counts as made with a token where the token has left a trace, or where the client
 * couldn't have subscribed without one.
 */
function sourceOf(
  { context, identity, user }: CommandSession,
  granted: SubscriptionSnapshot,
): number {
  const { channel, serverSide, ordered, byCapability, chanInfo, expireAtSeconds } = granted;
  const known = context.channels.resolve(channel);
  const { allowed: isOpen } =
    known.outcome === "resolved"
      ? maySubscribe(known, { user }, context.config.channel)
      : { allowed: false };
  if (ordered === true) return sources.api;
  if (byCapability === true) return sources.capability;
  if (serverSide === true) {
    if (channel === personalChannel(user, context.config)) return sources.personal;
    if (isOpen === true && identity.codec === "one_way") return sources.unidirectional;
    return identity.byHook === true ? sources.connectHook : sources.connectionToken;
  }
  const isByToken = granted.issuedAtSeconds !== undefined;
  if (!isByToken && isOpen === "asked") return sources.subscribeHook;
  if (isByToken || isOpen !== true || chanInfo !== undefined || expireAtSeconds !== 0)
    return sources.subscriptionToken;
  if (known.outcome === "resolved" && known.users !== undefined) return sources.userLimited;
  return context.config.client.insecure ? sources.insecure : sources.allowed;
}

/** The numbers of Centrifugo's sources. */
const sources = {
  connectionToken: 1,
  connectHook: 2,
  subscriptionToken: 3,
  subscribeHook: 4,
  userLimited: 5,
  allowed: 6,
  insecure: 7,
  unidirectional: 8,
  personal: 9,
  api: 10,
  capability: 11,
} as const;

/** The transport of a session, see {@link transportName}. */
export function transportOf(identity: SessionIdentity): string {
  const { secret, ...rest } = identity;
  return transportName(secret === undefined ? rest : { ...rest, emulated: true });
}

/** The transport by Centrifugo's name; a long poll, which Centrifugo doesn't have, by the name of its setting. */
export function transportName({ codec, emulated, passing, events }: TransportTraits): string {
  if (passing === true) return "long_poll";
  const prefix = codec === "one_way" ? "uni_" : "";
  if (emulated !== true) return `${prefix}websocket`;
  return `${prefix}${events === true ? "sse" : "http_stream"}`;
}

/** The facts by which the transports of clients are told apart. */
type TransportTraits = Pick<SessionIdentity, "codec" | "passing" | "events"> & {
  /** The edge holds the client's HTTP stream. */
  readonly emulated?: true;
};

/** The name of the client's protocol: a unidirectional client reads JSON. */
export function protocolOf({ codec }: Pick<SessionIdentity, "codec">): string {
  switch (codec) {
    case "protobuf":
      return "protobuf";
    case "msgpack":
      return "messagepack";
    case "one_way":
    case undefined:
      break;
  }
  return "json";
}
