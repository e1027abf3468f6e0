/** The permission of clients to edit and delete publications. */
import type { ChannelOptions } from "../../config/config.ts";
import { errorCodes } from "../../protocol/codes.ts";
import {
  allowed,
  type AskedChannel,
  type Caller,
  denied,
  deniedByOptions,
  isClosed,
  type May,
  mayPublish,
  type NotAllowed,
} from "../../session/may.ts";

/**
 * Whether a client may change publications (rule ED13). "own": those of its own user, which the channel's object knows.
 */
export function mayChange(
  channel: AskedChannel<ChannelOptions>,
  caller: Caller,
): May | { readonly allowed: "own" } {
  const { changes } = channel.options;
  if (changes === undefined) return noChange;
  if (isClosed(channel, caller)) return denied("ED13", "only subscribers of the channel may");
  if (caller.capabilities?.includes("chg") === true) return allowed;
  if (!changes.ownForClient)
    return deniedByOptions("ED13", "allow_change_own_for_client is off, and no caps allow chg");
  if (caller.user === "") return denied("ED13", "the client has no user");
  return mayPublish(channel, caller).allowed === false
    ? denied("ED13", "the client may not publish to the channel")
    : { allowed: "own" };
}

const noChange: NotAllowed = {
  allowed: false,
  because: "allow_change isn't set",
  rule: "ED13",
  error: errorCodes.notAvailable,
  ofNamespace: true,
};
