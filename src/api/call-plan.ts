import { limits } from "../limits.ts";
import type { Call, Entry, Refused } from "./api-command.ts";
import type { ChannelCommand } from "./channel-command.ts";
import { refusedRequest } from "./check-channel.ts";

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
  const calls = new Map<string, { commands: ChannelCommand[]; places: number[]; weight: number }>();
  for (const [place, entry] of entries.entries()) {
    if (entry.outcome === "refused") continue;
    const call = calls.get(entry.channel) ?? { commands: [], places: [], weight: 0 };
    calls.set(entry.channel, call);
    call.commands.push(entry.command);
    call.places.push(place);
    call.weight += textLength(entry);
    // One RPC carries 32 MiB, and a character takes at most two bytes in it.
    if (call.weight > limits.requestBytesMax) {
      return refusedRequest(
        `the data for one channel is over ${limits.requestBytesMax} characters`,
      );
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

/**
 * Divides calls into waves, to be made one after the other. All calls of a wave are in memory at the same time, and
 * an isolate has 128 MB: so what they carry there and may bring back is bounded. Most requests are one wave.
 */
export function planWaves(calls: readonly ChannelCall[]): readonly (readonly ChannelCall[])[] {
  const waves: ChannelCall[][] = [];
  let room = 0;
  for (const call of calls) {
    const weight = call.commands.reduce((sum, command) => sum + commandWeight(command), 0);
    const last = waves.at(-1);
    if (last !== undefined && weight <= room) {
      last.push(call);
      room -= weight;
    } else {
      waves.push([call]);
      room = limits.requestBytesMax - weight;
    }
  }
  return waves;
}

function textLength({ command }: Call): number {
  return command.method === "publish" ? commandWeight(command) : 0;
}

/** What a command holds in memory until it is answered, in bytes, roughly. */
function commandWeight(command: ChannelCommand): number {
  switch (command.method) {
    case "publish": {
      const { data, tags = {} } = command.request;
      return Object.entries(tags).reduce(
        (sum, [name, value]) => sum + name.length + value.length,
        data.length,
      );
    }
    // Eight of them at a time may each bring the largest answer there is.
    case "history":
    case "presence":
      return limits.answerBytesMax / 8;
    case "history_remove":
    case "presence_stats":
      break;
  }
  return 0;
}
