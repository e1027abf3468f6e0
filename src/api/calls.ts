import { limits } from "../limits.ts";
import { type Entry, type Refused, refusedRequest } from "./command.ts";
import { type ChannelCommand, commandBytes } from "../contract/channel-call.ts";

/** Everything that one request asks of one channel, in the request's order. It goes in one RPC. */
export interface ChannelCall {
  readonly channel: string;
  readonly commands: readonly ChannelCommand[];
  /** For each command the index of its entry, which is where its answer goes. */
  readonly entryIndexes: readonly number[];
}

type CallPlan = { readonly outcome: "plan"; readonly calls: readonly ChannelCall[] } | Refused;

/**
 * Groups the entries of a request by channel; channels come in the order in which they are first named. Refuses the
 * whole when it is too much: a short text can ask for a lot, because a broadcast repeats its data for each channel.
 */
export function planCalls(entries: readonly Entry[]): CallPlan {
  if (entries.length > limits.requestCommandsMax) return tooManyCommands;
  const calls = new Map<
    string,
    { commands: ChannelCommand[]; entryIndexes: number[]; bytes: number }
  >();
  for (const [index, entry] of entries.entries()) {
    if (entry.outcome === "refused") continue;
    const call = calls.get(entry.channel) ?? { commands: [], entryIndexes: [], bytes: 0 };
    calls.set(entry.channel, call);
    call.commands.push(entry.command);
    call.entryIndexes.push(index);
    call.bytes += commandBytes(entry.command);
    // One RPC carries 32 MiB, and a character takes at most two bytes in it.
    if (call.bytes > limits.requestBytesMax) {
      return refusedRequest(`the data for one channel is over ${limits.requestBytesMax} bytes`);
    }
  }
  if (calls.size > limits.requestChannelsMax) {
    return refusedRequest(`the request names more than ${limits.requestChannelsMax} channels`);
  }
  const planned = [...calls].map(([channel, { commands, entryIndexes }]) => ({
    channel,
    commands,
    entryIndexes,
  }));
  return { outcome: "plan", calls: planned };
}

/** More commands than one request may hold, counting a broadcast's channels one by one. */
export const tooManyCommands: Refused = refusedRequest(
  `the request has more than ${limits.requestCommandsMax} commands`,
);

/**
 * The calls of one request, of which only so many are under way at a time: `limits.callsInFlightMax`, because the
 * platform may let fewer connections wait at the same time and a call's time runs from its start; and
 * `limits.requestBytesMax` together, because they are all in memory, of which an isolate has 128 MB.
 */
export class CallQueue {
  readonly #calls: readonly ChannelCall[];
  #begun = 0;
  #inFlight = 0;
  #bytesInFlight = 0;

  constructor(calls: readonly ChannelCall[]) {
    this.#calls = calls;
  }

  /** The calls to make now, in their order; none while those under way leave no room, and at the end. */
  begin(): readonly ChannelCall[] {
    const beginning: ChannelCall[] = [];
    for (const call of this.#calls.slice(this.#begun, this.#begun + limits.callsInFlightMax)) {
      if (!this.#hasRoom(call)) break;
      beginning.push(call);
      this.#begun++;
      this.#inFlight++;
      this.#bytesInFlight += callBytes(call);
    }
    return beginning;
  }

  /** Makes room again. To be told of each call that was begun, once. */
  ended(call: ChannelCall): void {
    this.#inFlight--;
    this.#bytesInFlight -= callBytes(call);
  }

  /** One that is too large for any company goes alone. */
  #hasRoom(call: ChannelCall): boolean {
    if (this.#inFlight === 0) return true;
    return (
      this.#inFlight < limits.callsInFlightMax &&
      this.#bytesInFlight + callBytes(call) <= limits.requestBytesMax
    );
  }
}

function callBytes({ commands }: ChannelCall): number {
  return commands.reduce((sum, command) => sum + bytesBothWays(command), 0);
}

/** What a command carries there or may bring back, whichever is more. */
function bytesBothWays(command: ChannelCommand): number {
  switch (command.method) {
    // Eight of them at a time may each bring the largest answer there is.
    case "history":
    case "presence":
      return limits.answerBytesMax / 8;
    case "publish":
    case "history_remove":
    case "presence_stats":
      break;
  }
  return commandBytes(command);
}
