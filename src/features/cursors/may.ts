/** The permissions of clients to mark what they have read, and to see what others have read. */
import { errorCodes } from "../../protocol/codes.ts";
import {
  allowed,
  type AskedChannel,
  type Caller,
  denied,
  type May,
  mayPublish,
  mayReadHistory,
  type NotAllowed,
  refused,
} from "../../session/may.ts";
import type { CursorOptions } from "./config.ts";

type MarkOptions = Parameters<typeof mayReadHistory>[0]["options"] & {
  readonly cursors?: object;
};

/**
 * Whether a client may mark how far its user has read, and ask what is unread (rule CU7). "if-kept": the channel's object
 * knows whether it keeps anything of the user, and refuses otherwise.
 */
export function mayMark(
  channel: AskedChannel<MarkOptions>,
  caller: Caller,
): May | { readonly allowed: "if-kept" } {
  if (caller.user === "") return noUser;
  if (channel.options.cursors === undefined) return noCursors;
  const isKnown = caller.subscribed || mayReadHistory(channel, caller).allowed;
  return isKnown ? allowed : { allowed: "if-kept" };
}

/** The refusal of anonymous clients. */
export const noUser: NotAllowed = {
  allowed: false,
  because: "the client has no user",
  rule: "CU7",
  error: errorCodes.permissionDenied,
};

/** The refusal where nothing is marked. */
export const noCursors: NotAllowed = {
  allowed: false,
  because: "cursors.enabled isn't set",
  rule: "CU7",
  error: errorCodes.notAvailable,
  ofNamespace: true,
};

/** The refusal by a channel that keeps nothing of the user. */
export const nothingKept: NotAllowed = {
  ...noUser,
  because: "the client isn't subscribed, and the channel keeps nothing of its user",
};

type ReceiptsOptions = Parameters<typeof mayPublish>[0]["options"] & {
  readonly cursors?: Pick<CursorOptions, "receipts">;
};

/**
 * Whether a client may see what others have read of a channel (rule CU37).
 *
 * @param channel undefined if the name stands for none
 */
export function maySeeMarks(
  channel: AskedChannel<ReceiptsOptions> | undefined,
  caller: Caller,
): May {
  if (channel?.options.cursors === undefined) return denied("CU37", "the channel has no receipts");
  switch (channel.options.cursors.receipts) {
    case "backend":
      return denied("CU37", 'cursors.receipts of the channel is "backend"');
    case "publisher": {
      if (mayPublish(channel, caller).allowed === true) return allowed;
      const couldPublish = mayPublish(channel, { ...caller, subscribed: true }).allowed === true;
      return couldPublish
        ? notSubscribed()
        : denied("CU37", "the client may not publish to the channel");
    }
    case "subscriber":
      if (caller.user === "") return denied("CU37", "the client has no user");
      return caller.subscribed ? allowed : notSubscribed();
  }
}

/** The client may try again: with most connections it will have subscribed to the channel by then. */
function notSubscribed(): NotAllowed {
  const error = { ...errorCodes.permissionDenied, temporary: true };
  const because = "the client isn't subscribed to the channel that the receipts are of";
  return refused(error, "CU37", because);
}
