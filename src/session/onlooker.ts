/**
 * Sessions of onlookers (rules N19 and N26): an onlooker sees what a user would see, and leaves no trace. Here is what such a session
 * has of its object, and which commands it may send. Its subscriptions say that they are an onlooker's
 * (`Subscription.onlooks`), so that channels neither show them nor hand them to features.
 */
import { errorCodes } from "../protocol/codes.ts";
import type { Command } from "../protocol/command.ts";
import { type RefusedCommand, refuseWith } from "./decision.ts";
import type { CommandSession, SessionContext } from "./ports.ts";

/**
 * The ports of an onlooker's session. They are named one by one, so that a port that a feature adds isn't there: nobody
 * observes or counts the session, asks a backend about it, or keeps anything of it.
 */
export function onlookerContext({
  config,
  channels,
  registrar,
  namedChannels,
  backlog,
  subscriptionTypes,
  knownDeltas,
  version,
  serverSubscriptions,
  node,
  channel,
  storesRows,
  later,
  dialect,
}: SessionContext): SessionContext {
  const { connectAt, targets } = config.hooks;
  return {
    config: { ...config, hooks: { connectAt, targets, keepsMeta: false } },
    channels,
    // The token's home alone is asked: the log-out revokes the login.
    ...(registrar && { registrar }),
    namedChannels,
    backlog,
    subscriptionTypes,
    knownDeltas,
    version,
    serverSubscriptions,
    node,
    ...(channel !== undefined && { channel }),
    storesRows,
    ...(later && { later }),
    ...(dialect && { dialect }),
  };
}

/** Refuses a command by which an onlooker would do more than look. Undefined: it may, or the session is none of an onlooker. */
export function refuseOnlooker(
  { identity }: Pick<CommandSession, "identity">,
  command: Command,
): RefusedCommand | undefined {
  if (identity.onlooker !== true) return undefined;
  switch (command.method) {
    case "connect":
    case "subscribe":
      // A dialect's commands always bring something in place of a token, which it doesn't read for an onlooker.
      return command.request.token === "" || identity.dialect !== undefined
        ? undefined
        : onlyLooks();
    case "unsubscribe":
    case "presence":
    case "presence_stats":
    case "history":
    case "ping":
    case "pong":
      return undefined;
    case "publish":
    case "refresh":
    case "sub_refresh":
    case "rpc":
    case "send":
      return onlyLooks();
  }
}

function onlyLooks(): RefusedCommand {
  return refuseWith(errorCodes.permissionDenied, "N19", "an onlooker only subscribes and reads");
}

/** The refusal of a subscribe about which a backend would be asked: it could take the onlooker for the user. */
export function notAskedForOnlooker(): RefusedCommand {
  const reason = "a backend decides on it, and isn't asked for an onlooker";
  return refuseWith(errorCodes.permissionDenied, "N19", reason);
}
