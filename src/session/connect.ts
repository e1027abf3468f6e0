import {
  type ConnectionClaims,
  type ConnectionVerdict,
  withoutSubscriptions,
} from "../access/claims.ts";
import { limits } from "../limits.ts";
import type { Message } from "../protocol/codec.ts";
import { disconnectCodes, type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { ConnectRequest } from "../protocol/command.ts";
import type { SubscribeResult, ConnectResult } from "../protocol/reply.ts";
import type { Subscribed } from "./channels.ts";
import { ask, connectQuestion, type CommandSession, type RunningCommand } from "./ports.ts";
import { type Decision, failWith, refuseWith, silent, tooLarge } from "./decision.ts";
import { isUnidirectionalSocket } from "./unidirectional.ts";
import {
  grantUnidirectionalSubscriptions,
  hiddenFromOthers,
  type GrantedChannel,
  grantServerSubscriptions,
  overChannelLimit,
} from "./server-subscriptions.ts";
import {
  asReceived,
  recoveredStart,
  noRecovery,
  type RecoveryRequest,
  subscribeOptions,
  recoveryOf,
  subscribeResult,
} from "./subscribe.ts";
import type { Config, HookTarget } from "../config/config.ts";
import { pongText } from "../contract/keepalive.ts";
import { anonymousClient } from "../contract/object-names.ts";
import { ttlSeconds, asksForPongs, sendsPongs } from "./liveness.ts";
import type { KeptHeaders, SessionIdentity } from "../contract/session-snapshot.ts";
import type { JsonText } from "../protocol/json/text.ts";
import { type AcceptedConnect, decideOnCredentials, refusing } from "./credentials.ts";

/**
 * Carries out a connect: decides on it, makes the server-side subscriptions, and replies when all of them have begun
 * (rules C1, C9). Their publications wait for the reply.
 *
 * @param token the command's verified token; undefined if the command carries none
 */
export function carryOutConnect(
  command: RunningCommand<ConnectRequest>,
  token: ConnectionVerdict | undefined,
): void {
  const { session, request, nowMs, done } = command;
  const { config, approver } = session.context;
  if (approver !== undefined) {
    const { headers: kept = {} } = session.identity;
    const headers = approver.headersAtConnect(session, kept, request.headers);
    if (headers === undefined) {
      const reason = "the headers that hooks get are too large";
      done(refusing(refuseWith(errorCodes.limitExceeded, "B2", reason)));
      return;
    }
    session.identity = withHeaders(session.identity, headers);
  }
  const accept = (accepted: AcceptedConnect | Decision, acceptedMs: number): void => {
    if (accepted.outcome === "accepted")
      carryOutAccepted({ ...command, nowMs: acceptedMs }, accepted);
    else done(accepted);
  };
  const { connect: target } = config.hooks;
  const { claims, atUpgrade } = session.identity;
  // The edge has asked already, also if its configuration is another one during a deploy (rule Q10).
  const isDecided = token !== undefined || claims !== undefined || atUpgrade !== undefined;
  if (target !== undefined && !isDecided)
    askForCredentials(session, target, request, nowMs, accept);
  else accept(decideOnCredentials(session.identity, token, config.client, nowMs), nowMs);
}

/** Makes the server-side subscriptions of an accepted connect, and replies. */
function carryOutAccepted(
  { session, id, request, nowMs, done }: RunningCommand<ConnectRequest>,
  { claims, data, byHook }: AcceptedConnect,
): void {
  const { channels, approver } = session.context;
  const grants = grantAll(session, request, claims);
  if (grants.outcome !== "granted") {
    done(refusing(grants));
    return;
  }
  // From here on the subscriptions are stored as such, not as claims.
  const kept = withoutSubscriptions(claims);
  const { byHook: _, atUpgrade: __, address, ...identity } = session.identity;
  const { headers } = identity;
  session.identity = {
    ...identity,
    ...appOf(request),
    ...(byHook === undefined ? {} : { byHook }),
    ...(address === undefined || kept.user !== "" ? {} : { address }),
    claims: kept,
  };
  if (headers !== undefined) {
    const later = approver?.headersAfterConnect(session, headers);
    session.identity = withHeaders(session.identity, later);
  }
  session.identity = nameAnonymous(session);
  const { granted } = grants;
  if (!session.hasRoom(granted.map(({ grant }) => grant.subscription))) {
    done(refusing(tooLarge));
    return;
  }
  session.accepted(nowMs);
  if (session.closed) {
    done(silent);
    return;
  }
  session.connecting = true;
  subscribeAll(session, granted, request, nowMs, (outcome) => {
    session.connecting = false;
    const asked = asksForPongs(session);
    const reply =
      outcome.outcome === "subscribed"
        ? connectReply(session, id, { claims: kept, data }, outcome.subscribed, asked, nowMs)
        : outcome;
    if (reply.outcome === "failed") {
      for (const subscription of session.subscriptions.all) channels.unsubscribe(subscription);
      session.subscriptions.clear();
      done(refusing(reply.decision));
    } else {
      sendConnected(session, reply.message, asked);
      done(silent);
    }
  });
}

/**
 * Asks a backend for the credentials of a client that brings none (rule Q2). Meanwhile the session is connecting: the
 * commands after the connect wait.
 */
function askForCredentials(
  session: CommandSession,
  target: HookTarget,
  request: ConnectRequest,
  nowMs: number,
  done: (accepted: AcceptedConnect | Decision, nowMs: number) => void,
): void {
  const { config } = session.context;
  session.connecting = true;
  const inquiry = { hook: "connect", question: connectQuestion(request), target, nowMs } as const;
  ask(session, inquiry, (answer, answeredMs) => {
    session.connecting = false;
    if (answer.outcome !== "granted") done(refusing(answer), answeredMs);
    else if (answer.granted === undefined)
      done(decideOnCredentials(session.identity, undefined, config.client, answeredMs), answeredMs);
    else {
      const { claims, data } = answer.granted;
      const accepted = { outcome: "accepted", claims, byHook: true } as const;
      done(data === undefined ? accepted : { ...accepted, data }, answeredMs);
    }
  });
}

function withHeaders(identity: SessionIdentity, headers: KeptHeaders | undefined): SessionIdentity {
  const { headers: _, ...rest } = identity;
  const hasSome = headers?.http !== undefined || headers?.emulated !== undefined;
  return hasSome ? { ...rest, headers } : rest;
}

/**
 * Grants all subscriptions that are made with the connection: server-side ones, and those of a unidirectional client.
 */
function grantAll(
  { identity, context, unidirectional }: CommandSession,
  request: ConnectRequest,
  claims: ConnectionClaims,
): ReturnType<typeof grantServerSubscriptions> {
  const { config, channels, serverSubscriptions, channel } = context;
  const requester = { user: claims.user, client: identity.client };
  const given = serverSubscriptions
    ? grantServerSubscriptions(claims, requester, config, channels)
    : nothingGranted;
  if (!unidirectional || given.outcome !== "granted") return given;
  const all = grantUnidirectionalSubscriptions(
    request,
    claims,
    requester,
    given.granted,
    channel,
    context,
  );
  if (all.outcome !== "granted") return all;
  if (all.granted.length > config.client.channelLimit) return overChannelLimit;
  return identity.passing === true ? { ...all, granted: all.granted.map(hiddenFromOthers) } : all;
}

const nothingGranted = { outcome: "granted", granted: [] } as const;

/** Subscribes to all channels at once. If one fails the connect fails, and the client comes back with its positions. */
function subscribeAll(
  session: CommandSession,
  granted: readonly GrantedChannel[],
  { subscriptions: requested }: ConnectRequest,
  nowMs: number,
  done: (outcome: AllSubscribed) => void,
): void {
  const subscribed: SubscribedChannel[] = [];
  let error: ErrorCode | undefined;
  let missing = granted.length;
  // An order may have ended one meanwhile (rule U2).
  const isLeft = ({ channel }: SubscribedChannel): boolean => session.subscriptions.has(channel);
  const finish = (): void => {
    done(
      error === undefined
        ? { outcome: "subscribed", subscribed: subscribed.filter(isLeft) }
        : {
            outcome: "failed",
            decision: refuseWith(
              error,
              "C9",
              "a subscription that comes with the connection failed",
            ),
          },
    );
  };
  for (const { grant, known } of granted) {
    const { channel } = grant.subscription;
    const recovery = requested.get(channel);
    const request = recovery === undefined ? noRecovery : { ...recovery, flag: 0 };
    const subscription = session.newSubscription(grant.subscription);
    subscription.pause();
    session.subscriptions.add(subscription);
    const options = subscribeOptions(grant, known.options, request);
    session.context.channels.subscribe(subscription, options, nowMs, (reply) => {
      if (reply.outcome === "failed") {
        error ??= reply.error;
        session.subscriptions.remove(channel);
      } else if (session.takeCancelled(channel)) {
        session.context.channels.unsubscribe(subscription);
        session.subscriptions.remove(channel);
      } else {
        const { knownDeltas } = session.context;
        subscribed.push({
          channel,
          grant,
          start: recoveredStart(options, reply),
          ...asReceived(subscription, knownDeltas, request, reply),
        });
        session.context.deliveries?.begin(subscription, undefined);
        subscription.begin();
        session.context.counts?.subscribed(channel, recoveryOf(request, reply));
      }
      missing--;
      if (missing === 0) finish();
    });
  }
  if (granted.length === 0) finish();
}

/** A subscription that has begun with the connection. */
interface SubscribedChannel {
  readonly channel: string;
  readonly request: RecoveryRequest;
  readonly grant: GrantedChannel["grant"];
  readonly reply: Subscribed;
  /** See {@link recoveredStart}. */
  readonly start: ReturnType<typeof recoveredStart>;
}

interface SubscribeFailed {
  readonly outcome: "failed";
  readonly decision: Decision;
}

type AllSubscribed =
  | { readonly outcome: "subscribed"; readonly subscribed: readonly SubscribedChannel[] }
  | SubscribeFailed;

/**
 * Encodes the reply. The recovered publications of all subscriptions together may exceed what a client can be sent at
 * once. Then some of the subscriptions aren't recovered (rules R4, F4).
 */
function connectReply(
  session: CommandSession,
  id: number,
  { claims, data }: { readonly claims: ConnectionClaims; readonly data: JsonText | undefined },
  subscribed: readonly SubscribedChannel[],
  pong: boolean,
  nowMs: number,
): { readonly outcome: "fits"; readonly message: Message } | SubscribeFailed {
  const { codec } = session;
  const { config, version } = session.context;
  const { queueMaxSizeBytes } = config.client;
  const bytesOf = (result: SubscribeResult): number =>
    codec.encodeReply({ id, method: "subscribe", result }).length;
  const results = subscribed.map(({ channel, grant, request, reply, start }) => {
    const without = { ...reply, recovered: false, publications: [] };
    return {
      channel,
      start,
      whole: subscribeResult(grant, request, reply, nowMs),
      bare: subscribeResult(grant, request, without, nowMs),
    };
  });
  let roomBytes = queueMaxSizeBytes - limits.answerRestBytes;
  for (const { bare } of results) roomBytes -= bytesOf(bare);
  const subscriptions = new Map<string, SubscribeResult>();
  for (const { channel, start, whole, bare } of results) {
    const bytes = whole.publications.length === 0 ? 0 : bytesOf(whole) - bytesOf(bare);
    const fits = bytes === 0 || bytes <= roomBytes;
    if (fits) roomBytes -= bytes;
    const subscription = fits && start && session.subscriptions.get(channel);
    if (subscription) session.context.deliveries?.begin(subscription, start);
    subscriptions.set(channel, fits ? whole : bare);
  }
  const result = {
    ...connectResult(session.identity, pong, claims, config, version, nowMs),
    ...(data === undefined ? {} : { data }),
    ...emulation(session),
    ...(subscriptions.size === 0 ? {} : { subscriptions }),
  };
  const message = codec.encodeReply({ id, method: "connect", result });
  return message.length <= queueMaxSizeBytes
    ? { outcome: "fits", message }
    : { outcome: "failed", decision: failWith(errorCodes.limitExceeded) };
}

/** The result of an accepted connect, without the subscriptions. */
function connectResult(
  { client }: SessionIdentity,
  pong: boolean,
  claims: ConnectionClaims,
  { client: config, hooks }: Config,
  version: string,
  nowMs: number,
): ConnectResult {
  return {
    client,
    version,
    // The client doesn't receive the end if the server asks a backend before it (rule Q9).
    ttlSeconds: hooks.refresh === undefined ? ttlSeconds(claims.expireAtSeconds, nowMs) : 0,
    pingSeconds: config.pingIntervalMs / 1000,
    pong,
    ...(config.connectIncludeServerTime ? { timeMs: nowMs } : {}),
  };
}

/** The application's name and version as the session stores them, cut to a bounded length (rule U20). */
function appOf({ name, version }: ConnectRequest): Pick<SessionIdentity, "appName" | "appVersion"> {
  return {
    ...(name === "" ? {} : { appName: cutText(name) }),
    ...(version === "" ? {} : { appVersion: cutText(version) }),
  };
}

function cutText(text: string): string {
  return text.slice(0, limits.appCharactersMax).toWellFormed();
}

/**
 * Gives an anonymous connection an ID that names its object, where backends can give orders for it: it has no home that
 * would know (rule U6).
 */
function nameAnonymous({ identity, context, user }: CommandSession): SessionIdentity {
  if (user !== "" || context.registrar === undefined) return identity;
  return { ...identity, client: anonymousClient(identity.client, context.node) };
}

/**
 * The secret and the node with which a client posts commands (docs/protocol.md 4.3). A unidirectional client posts none. On
 * a WebSocket its session is its ID, for a backend that names the connection (rule T10).
 */
function emulation(session: CommandSession): {
  readonly session?: string;
  readonly node?: string;
} {
  const { identity, context, unidirectional, user } = session;
  if (isUnidirectionalSocket(session)) return { session: identity.client };
  const { secret } = identity;
  if (secret === undefined) return {};
  const isNamed = user !== "" || context.registrar === undefined;
  const name = isNamed ? secret : anonymousClient(secret, context.node);
  return unidirectional ? { session: name } : { session: name, node: context.node };
}

/** @param asked whether the client is asked for pongs */
function sendConnected(session: CommandSession, message: Message, asked: boolean): void {
  if (session.mustWait(message)) {
    // The client comes back, and recovers then.
    session.disconnect(disconnectCodes.tooManyRequests);
    return;
  }
  const isSpared = !asked && sendsPongs(session);
  session.change({ phase: "connected", ...(isSpared ? { noPongs: true } : {}) });
  const begun = session.subscriptions.all;
  session.reportBegun(begun);
  if (asked && session.identity.keepalive === "client") session.send(pongText);
  session.send(message);
  for (const subscription of begun) subscription.resume();
  for (const subscription of begun) session.announce(subscription);
  session.connected();
}
