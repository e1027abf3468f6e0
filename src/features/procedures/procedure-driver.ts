import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import type { CodeObserver, ChannelProcedures, EndedCall } from "./channel-procedures.ts";
import { procedureLimits } from "./limits.ts";

/** The outcomes of the calls of one procedure, since the object woke. */
export interface CallCounts {
  done: number;
  repeated: number;
  rejected: number;
  /** Refused by a bound, or for lack of room. */
  refused: number;
  threw: number;
  /** Those that held the thread for longer than `procedureLimits.slowMs`. */
  slow: number;
}

/** The counts of a procedure that wasn't called. */
export const noCalls: Readonly<CallCounts> = {
  done: 0,
  repeated: 0,
  rejected: 0,
  refused: 0,
  threw: 0,
  slow: 0,
};

/** Calls the timers of a channel's code, and notes the outcomes of all calls: in memory, and in the log if the code throws. */
export class ProcedureDriver implements ObjectPart, CodeObserver {
  readonly procedures: ChannelProcedures;
  /** The newest calls, the last one at the end. */
  readonly lastCalls: EndedCall[] = [];
  /** By the names of procedures; `onPublish` and `migrate` are among them. */
  readonly counts = new Map<string, CallCounts>();
  readonly #object: PartedChannelObject;
  /** The calls that share the thread now: one after the other, without a turn of the event loop. */
  #stretch: { readonly sinceMs: number; readonly names: string[] } | undefined;

  constructor(procedures: ChannelProcedures, object: PartedChannelObject) {
    this.procedures = procedures;
    this.#object = object;
    procedures.observer = this;
  }

  called(call: EndedCall): void {
    const { name, outcome, thrown, nowMs } = call;
    const counts = this.#countsOf(name);
    counts[outcome === "over-limit" ? "refused" : outcome]++;
    this.lastCalls.push(call);
    if (this.lastCalls.length > procedureLimits.lastCallsMax) this.lastCalls.shift();
    if (thrown !== undefined)
      this.#log("error", `${name} of the channel's code threw: ${thrown.stack ?? thrown.message}`);
    this.#measure(name, nowMs);
  }

  ring(nowMs: number): void {
    this.procedures.ring(nowMs);
  }

  dueAtMs(nowMs: number): number {
    return this.procedures.dueAtMs(nowMs);
  }

  storesNothing(): boolean {
    return this.procedures.storesNothing;
  }

  storageDeleted(): void {
    this.procedures.storageDeleted();
  }

  #countsOf(name: string): CallCounts {
    const known = this.counts.get(name);
    if (known !== undefined) return known;
    const counts = { ...noCalls };
    this.counts.set(name, counts);
    return counts;
  }

  /**
   * A platform's clock may stand still while code runs, so what was used is read after a turn of the event loop. If it is much, a
   * second turn without a call shows how long a turn takes at the moment.
   */
  #measure(name: string, nowMs: number): void {
    if (this.#stretch !== undefined) {
      this.#stretch.names.push(name);
      return;
    }
    const stretch = { sinceMs: nowMs, names: [name] };
    this.#stretch = stretch;
    const { platform } = this.#object;
    platform.after(0, () => {
      this.#stretch = undefined;
      const turnMs = platform.nowMs();
      const tookMs = Math.abs(turnMs - stretch.sinceMs);
      if (!isSlow(stretch.names, tookMs)) return;
      platform.after(0, () => {
        this.#judge(stretch.names, tookMs - Math.abs(platform.nowMs() - turnMs));
      });
    });
  }

  /** Only those calls count that were slow on the average of all that shared the thread. */
  #judge(names: readonly string[], tookMs: number): void {
    if (!isSlow(names, tookMs)) return;
    for (const name of new Set(names)) this.#countsOf(name).slow++;
    const named = [...new Set(names)].join(", ");
    this.#log("warn", `${named} of the channel's code held the thread for ${tookMs} ms`);
  }

  #log(level: "warn" | "error", line: string): void {
    const { platform } = this.#object;
    platform.log(level, `channel ${platform.name}: ${line}`);
  }
}

function isSlow(names: readonly string[], tookMs: number): boolean {
  return tookMs > procedureLimits.slowMs * names.length;
}

/** The part of an object whose channel's code has left the Worker, and may come back: stored keys and timers stay. */
export const sleepingCode: ObjectPart = { storesNothing: () => false };
