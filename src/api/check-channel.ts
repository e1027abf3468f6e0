import { resolveChannel } from "../channel/channel-name.ts";
import type { ChannelConfig, ChannelOptions } from "../config/config.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Refused } from "./command.ts";

export type CheckedChannel =
  | { readonly outcome: "channel"; readonly options: ChannelOptions }
  | Refused;

/** Finds a channel's options, or says why a backend can't use that name (reference 6.2): errors 107 and 102. */
export function checkChannel(channel: string, config: ChannelConfig): CheckedChannel {
  if (channel === "") return refusedRequest("channel is required");
  // Text with half a surrogate pair is changed on its way to the object, and two channels would become one.
  if (!channel.isWellFormed()) return refusedRequest("the channel name is not well-formed Unicode");
  const resolved = resolveChannel(channel, config);
  switch (resolved.outcome) {
    case "resolved":
      return { outcome: "channel", options: resolved.options };
    case "bad-name":
      return refusedRequest(resolved.reason);
    case "unknown-namespace":
      break;
  }
  const detail = "the channel's namespace is not configured";
  return { outcome: "refused", error: errorCodes.unknownChannel, detail };
}

/** Error 107, with what is wrong. */
export function refusedRequest(detail: string): Refused {
  return { outcome: "refused", error: errorCodes.badRequest, detail };
}
