/**
 * Says in words why a client's command was refused, for the operator's log. Where the error's code and the options of the
 * namespace leave more than one reason, the decision says which one it was; for the others this looks at the same things
 * again, because few commands are refused, and the decisions stay short.
 */
import { type Capability, capabilitiesOn } from "../access/capabilities.ts";
import { noTokenReason, type Refusal, tokenReason } from "../access/refusal.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import { type Command, subscriptionTypes } from "../protocol/command.ts";
import { partsOf } from "../config/name-parts.ts";
import { channelOf } from "./command-queue.ts";
import type { Why } from "./decision.ts";
import type { CommandSession, VerifiedTokens } from "./ports.ts";

/**
 * Explains a refused command.
 *
 * @param tokens   the command's own
 * @param code     of the error or the close with which it was answered
 * @param known    why it is refused, if the decision says so
 */
export function explain(
  session: CommandSession,
  command: Command,
  tokens: VerifiedTokens,
  code: { readonly code: number; readonly message?: string; readonly reason?: string },
  known?: Why,
): Refusal {
  const channel = channelOf(command);
  return {
    refused: command.method,
    ...(known ?? why(session, command, tokens, code.code)),
    code: code.code,
    user: session.user,
    ...(channel === undefined ? {} : { channel }),
  };
}

function why(session: CommandSession, command: Command, tokens: VerifiedTokens, code: number): Why {
  const ofToken = whyToken(tokens, code);
  if (ofToken !== undefined) return ofToken;
  if (code === errorCodes.tooManyRequests.code || code === disconnectCodes.tooManyRequests.code)
    return { rule: "B7", reason: "the connection or its channel is over a limit for now" };
  if (command.method === "connect") return whyConnect(session, code);
  const channel = channelOf(command);
  if (channel !== undefined) return whyChannel(session, command, channel, code);
  if (code === errorCodes.notAvailable.code || code === disconnectCodes.notAvailable.code)
    return { rule: "W1", reason: `${command.method} isn't available` };
  return { rule: "C1", reason: "the command isn't allowed now: connect comes first, and once" };
}

/** The fault of the token; undefined if the token isn't the cause. */
function whyToken({ connection, subscription }: VerifiedTokens, code: number): Why | undefined {
  const verdict = connection ?? subscription;
  switch (verdict?.outcome) {
    case "invalid":
      return { rule: verdict.rule ?? "A2", reason: tokenReason(verdict) };
    case "expired":
      return { rule: "C3", reason: tokenReason(verdict) };
    case "unavailable":
      return { rule: "A9", reason: tokenReason(verdict) };
    case "verified":
      if (code === errorCodes.expired.code || code === disconnectCodes.connectionExpired.code)
        return { rule: "C3", reason: expireAtPassed };
      if (code !== disconnectCodes.invalidToken.code) return undefined;
      return subscription === undefined
        ? { rule: "C3", reason: "the token is of another user than the connection's earlier token" }
        : { rule: "A4", reason: "the token is for another channel, user or client" };
    case undefined:
      return undefined;
  }
}

const expireAtPassed = "the token's expire_at has passed";

/** Why a command over a rate of the configuration is refused; undefined for any other rate. */
export function whyExceeded(rate: string | undefined): Why | undefined {
  if (rate === undefined) return undefined;
  return { rule: "B22", reason: `client.rate_limit.${rate} is exceeded` };
}

function whyConnect({ identity, context }: CommandSession, code: number): Why {
  switch (code) {
    case disconnectCodes.badRequest.code:
      return identity.phase === "new" && identity.claims === undefined
        ? { rule: "C3", reason: noTokenReason }
        : { rule: "C1", reason: "connect came twice, or names a channel that can't exist" };
    case errorCodes.tokenExpired.code:
      return { rule: "C3", reason: "the upgrade's token has expired since" };
    case errorCodes.expired.code:
      return { rule: "C3", reason: expireAtPassed };
    case disconnectCodes.permissionDenied.code:
      return context.config.client.disallowAnonymousConnectionTokens
        ? {
            rule: "C3",
            reason:
              "the token names no user, and client.disallow_anonymous_connection_tokens is on",
          }
        : { rule: "A1", reason: "the client may not subscribe to the channel of its address" };
    case errorCodes.unknownChannel.code:
    case errorCodes.badRequest.code:
      return { rule: "C9", reason: "the token names a channel that doesn't exist" };
    case disconnectCodes.channelLimit.code:
      return { rule: "G1", reason: "more subscriptions than client.channel_limit" };
    case errorCodes.limitExceeded.code:
      return { rule: "B2", reason: "the token says more than a session can keep" };
    default:
      return { rule: "C9", reason: "a subscription that comes with the connection failed" };
  }
}

function whyChannel(session: CommandSession, command: Command, channel: string, code: number): Why {
  const { channels, config } = session.context;
  const found = channels.find(channel);
  if (found.outcome === "bad-name") return { rule: "W1", reason: found.reason };
  if (found.outcome === "unknown-namespace") return whyUnknown(session, channel);
  const { namespace: name } = partsOf(channel, config.channel);
  const namespace = name === undefined ? "channel.without_namespace" : `namespace ${name}`;
  switch (code) {
    case errorCodes.permissionDenied.code:
      if (command.method === "publish" && found.options.map !== undefined) {
        const option = command.request.removed ? "remove" : "publish";
        const lacking = `no map.allow_${option}_for_… option lets this client, or it has no map.client_key`;
        return { rule: "Z18", reason: `${namespace}: ${lacking}` };
      }
      if (command.method !== "subscribe") {
        const option = `no allow_${verb(command.method)}_for_… option lets this client`;
        const caps = whyNotByCapability(session, command.method, channel);
        return { rule: "A1", reason: `${namespace}: ${option}${caps}` };
      }
      if (command.request.type !== subscriptionTypes[found.options.subscriptionType])
        return {
          rule: "W1",
          reason: `${namespace}: subscription_type is ${found.options.subscriptionType}`,
        };
      if (found.private)
        return { rule: "A5", reason: `a ${config.channel.privatePrefix} channel needs a token` };
      if (found.users !== undefined)
        return { rule: "A5", reason: "the channel is limited to other users" };
      return {
        rule: "A1",
        reason: `${namespace}: ${
          found.options.allowSubscribeForClient
            ? "allow_subscribe_for_anonymous is off and the user is anonymous"
            : "allow_subscribe_for_client is off and there is no token"
        }${whyNotByCapability(session, "subscribe", channel)}`,
      };
    case errorCodes.notAvailable.code:
      return { rule: "W1", reason: `${namespace}: ${verb(command.method)} isn't switched on` };
    case errorCodes.alreadySubscribed.code:
      return { rule: "W1", reason: "the connection is subscribed to the channel already" };
    case errorCodes.limitExceeded.code:
      return whyTooMuch(command);
    case errorCodes.unrecoverablePosition.code:
      return { rule: "R5", reason: "the client's position can't be recovered" };
    case errorCodes.badRequest.code:
      return { rule: "W1", reason: `${namespace}: the request has a value that isn't allowed` };
    default:
      return { rule: "W1", reason: "the command failed" };
  }
}

/** Why there is no room for what a command asks for, where the decision doesn't say it. */
function whyTooMuch({ method }: Command): Why {
  if (method === "publish") return { rule: "B1", reason: "the map is full" };
  return method === "sub_refresh"
    ? { rule: "SP9", reason: "the connection or the channel has too many tracked keys" }
    : { rule: "F4", reason: "the reply is larger than client.queue_max_size" };
}

/** Why the capabilities of a client don't allow a command either (rule A16); "" if it has none. */
function whyNotByCapability(
  { identity }: CommandSession,
  method: Command["method"],
  channel: string,
): string {
  const { capabilities: text } = identity.claims ?? {};
  if (text === undefined) return "";
  const capability = capabilityOf.get(verb(method)) ?? "sub";
  return capabilitiesOn(text, channel).includes(capability)
    ? ", and the caps of its token count for subscribers only"
    : `, and the caps of its token don't allow ${capability}`;
}

const capabilityOf: ReadonlyMap<string, Capability> = new Map([
  ["publish", "pub"],
  ["presence", "prs"],
  ["history", "hst"],
]);

function whyUnknown({ context }: CommandSession, channel: string): Why {
  return context.channel !== undefined && context.channel !== channel
    ? { rule: "C6", reason: "only the channel of the address exists at this address" }
    : { rule: "W1", reason: "channel.namespaces doesn't have the channel's namespace" };
}

/** The word in the names of the options that decide on a command. */
function verb(method: Command["method"]): string {
  return method === "presence_stats" ? "presence" : method;
}
