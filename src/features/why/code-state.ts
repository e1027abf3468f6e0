/** The report of an object on the code of its channel (rule Y10). */
import type { JsonText } from "../../protocol/json/text.ts";
import type { EndedCall } from "../procedures/channel-procedures.ts";
import { type CallCounts, noCalls, type ProcedureDriver } from "../procedures/procedure-driver.ts";
import { trailLimits } from "./limits.ts";

/** The code of a channel: its stored keys and timers, and its last calls. */
export interface CodeState {
  readonly keys: number;
  /** The bytes of the keys; absent for a map. */
  readonly bytes?: number;
  /** The version of what the keys hold; absent if none is stored. */
  readonly version?: number;
  /** The first keys; none for a map, which is read as one. */
  readonly firstKeys: readonly CodeKey[];
  readonly timers: readonly CodeTimer[];
  /** The outcomes of the calls since the object woke, by the procedures that may have been called. */
  readonly procedures: Readonly<Record<string, Readonly<CallCounts>>>;
  /** The last calls, newest first. */
  readonly lastCalls: readonly LastCall[];
}

/** A key with its value, which is absent if it is long. */
interface CodeKey {
  readonly key: string;
  readonly value?: JsonText;
}

interface CodeTimer {
  readonly name: string;
  /** When it calls, ms since 1970. */
  readonly atMs: number;
  readonly procedure: string;
  /** How often its procedure has thrown. */
  readonly tries: number;
}

/** A call that has ended. */
interface LastCall {
  readonly procedure: string;
  /** Who called: `client`, `backend` or `timer`. */
  readonly by: string;
  readonly outcome: string;
  /** The error of a call that failed. */
  readonly code?: number;
  readonly message?: string;
  readonly atMs: number;
}

/** Looks at the code of a channel. */
export function codeState(
  { procedures, counts, lastCalls }: ProcedureDriver,
  nowMs: number,
): CodeState {
  const { keys, bytes, timers, version } = procedures.look(nowMs);
  const { inspectedKeysMax, inspectedCallsMax } = trailLimits;
  const named = [...procedures.code.procedures.keys()].map((name) => [name, noCalls] as const);
  return {
    keys,
    ...(bytes !== undefined && { bytes }),
    ...(version !== undefined && { version }),
    firstKeys:
      bytes === undefined
        ? []
        : procedures
            .keysAfter("", inspectedKeysMax)
            .map((key) => shownKey(key, procedures.read(key))),
    timers: Array.from(timers, ([name, { atMs, procedure, tries }]) => ({
      name,
      atMs,
      procedure,
      tries,
    })).toSorted((one, other) => one.atMs - other.atMs),
    procedures: { ...Object.fromEntries(named), ...Object.fromEntries(counts) },
    lastCalls: lastCalls.slice(-inspectedCallsMax).toReversed().map(shownCall),
  };
}

function shownKey(key: string, value: JsonText | undefined): CodeKey {
  const isShown = value !== undefined && value.length <= trailLimits.inspectedValueCharactersMax;
  return isShown ? { key, value } : { key };
}

function shownCall({ name: procedure, by, outcome, error, nowMs: atMs }: EndedCall): LastCall {
  const call = { procedure, by, outcome, atMs };
  return error === undefined ? call : { ...call, code: error.code, message: error.message };
}
