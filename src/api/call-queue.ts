import { limits } from "../limits.ts";
import type { ChannelCall } from "./calls.ts";
import type { ChannelCommand } from "../contract/channel-call.ts";
import { commandBytes } from "../contract/command-bytes.ts";

/**
 * The calls of one request, of which only so many are under way at a time: `limits.callsInFlightMax`, because the
 * platform may let fewer connections wait at the same time and a call's time runs from its start; and
 * `limits.requestBytesMax` together, because they are all in memory, of which an isolate has 128 MB.
 */
export class CallQueue {
  readonly #calls: readonly ChannelCall[];
  #begun = 0;
  #underWay = 0;
  #bytesUnderWay = 0;

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
      this.#underWay++;
      this.#bytesUnderWay += callBytes(call);
    }
    return beginning;
  }

  /** Makes room again. To be told of each call that was begun, once. */
  ended(call: ChannelCall): void {
    this.#underWay--;
    this.#bytesUnderWay -= callBytes(call);
  }

  /** One that is too large for any company goes alone. */
  #hasRoom(call: ChannelCall): boolean {
    if (this.#underWay === 0) return true;
    return (
      this.#underWay < limits.callsInFlightMax &&
      this.#bytesUnderWay + callBytes(call) <= limits.requestBytesMax
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
