import { limits } from "../limits.ts";
import type { Entry, Refused } from "./command.ts";
import type { ChannelCommand } from "../contract/channel-call.ts";
import { refusedRequest } from "./check-channel.ts";
import { commandBytes } from "../contract/command-bytes.ts";

/** Everything that one request asks of one channel, in the request's order. It goes in one RPC. */
export interface ChannelCall {
  readonly channel: string;
  readonly commands: readonly ChannelCommand[];
  /** For each command the index of its entry, which is where its answer goes. */
  readonly places: readonly number[];
}

export type CallPlan =
  | { readonly outcome: "plan"; readonly calls: readonly ChannelCall[] }
  | Refused;

/**
 * Groups the entries of a request by channel; channels come in the order in which they are first named. Refuses the
 * whole when it is too much: a short text can ask for a lot, because a broadcast repeats its data for each channel.
 */
export function planCalls(entries: readonly Entry[]): CallPlan {
  if (entries.length > limits.requestCommandsMax) return tooManyCommands;
  const calls = new Map<string, { commands: ChannelCommand[]; places: number[]; bytes: number }>();
  for (const [place, entry] of entries.entries()) {
    if (entry.outcome === "refused") continue;
    const call = calls.get(entry.channel) ?? { commands: [], places: [], bytes: 0 };
    calls.set(entry.channel, call);
    call.commands.push(entry.command);
    call.places.push(place);
    call.bytes += commandBytes(entry.command);
    // One RPC carries 32 MiB, and a character takes at most two bytes in it.
    if (call.bytes > limits.requestBytesMax) {
      return refusedRequest(`the data for one channel is over ${limits.requestBytesMax} bytes`);
    }
  }
  if (calls.size > limits.requestChannelsMax) {
    return refusedRequest(`the request names more than ${limits.requestChannelsMax} channels`);
  }
  const planned = [...calls].map(([channel, { commands, places }]) => ({
    channel,
    commands,
    places,
  }));
  return { outcome: "plan", calls: planned };
}

/** More commands than one request may hold, counting a broadcast's channels one by one. */
export const tooManyCommands: Refused = refusedRequest(
  `the request has more than ${limits.requestCommandsMax} commands`,
);
