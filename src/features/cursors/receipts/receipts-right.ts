import { resolveChannel } from "../../../channel/channel-name.ts";
import { errorCodes } from "../../../protocol/codes.ts";
import { type RefusedCommand, refuseWith } from "../../../session/decision.ts";
import { callerOf, mayPublish } from "../../../session/grant.ts";
import type { DependentClient } from "../../../session/dependence/dependence.ts";

/** Why a client may not see what others have read of a channel; undefined if it may (rule CU37). */
export function refuseReceipts(
  client: DependentClient,
  channel: string,
): RefusedCommand | undefined {
  const found = resolveChannel(channel, client.context.config.channel);
  if (found.outcome !== "resolved" || found.options.cursors === undefined)
    return refuse(noReceipts);
  const caller = callerOf(client, channel, found);
  switch (found.options.cursors.receipts) {
    case "backend":
      return refuse(onlyBackends);
    case "publisher": {
      if (mayPublish(found.options, caller)) return undefined;
      const couldSubscribe = mayPublish(found.options, { ...caller, subscribed: true });
      return couldSubscribe ? refuseForNow() : refuse(noPublisher);
    }
    case "subscriber":
      if (caller.user === "") return refuse(anonymous);
      return caller.subscribed ? undefined : refuseForNow();
  }
}

function refuse(reason: string): RefusedCommand {
  return refuseWith(errorCodes.permissionDenied, "CU37", reason);
}

/** The client may try again: with most connections it will have subscribed to the channel by then. */
function refuseForNow(): RefusedCommand {
  const error = { ...errorCodes.permissionDenied, temporary: true };
  return refuseWith(error, "CU37", notSubscribed);
}

const notSubscribed = "the client isn't subscribed to the channel that the receipts are of";
const noReceipts = "the channel has no receipts";
const onlyBackends = 'cursors.receipts of the channel is "backend"';
const noPublisher = "the client may not publish to the channel";
const anonymous = "the client has no user";
