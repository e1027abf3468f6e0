/** The permission of clients to call procedures of a channel's code. */
import type { ChannelOptions } from "../../config/config.ts";
import { errorCodes } from "../../protocol/codes.ts";
import {
  allowed,
  type AskedChannel,
  type Caller,
  deniedByOptions,
  isPermitted,
  type May,
  type NotAllowed,
  type Permission,
  refused,
} from "../../session/may.ts";

/** Options of a namespace whose channels may have code. */
type ProcedureRules = Pick<ChannelOptions, "limitedChannelsForSubscribersOnly"> & {
  readonly code?: object;
  readonly calls?: Permission;
};

/** Whether a client may call procedures of the channel (rule PC3). The code may have procedures that no client may call. */
export function mayCallProcedures(channel: AskedChannel<ProcedureRules>, caller: Caller): May {
  const { code, calls = nobody } = channel.options;
  if (code === undefined) return noCode;
  if (isPermitted(channel, caller, "call", calls)) return allowed;
  const lacking =
    caller.capabilities === undefined ? "" : ", and the caps of its token don't allow call";
  return deniedByOptions("PC3", `no allow_call_for_… option lets this client${lacking}`);
}

const nobody: Permission = { client: false, subscriber: false, anonymous: false };

/** The refusal where the channels have no code. */
const noCode: NotAllowed = {
  ...refused(errorCodes.notAvailable, "PC3", "the channels have no code"),
  ofNamespace: true,
};
