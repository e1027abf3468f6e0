import type { Refusal } from "../../src/access/refusal.ts";
import { bounded } from "../../src/access/last-refusals.ts";
import { limits } from "../../src/limits.ts";

/**
 * Writes each refusal as a line of JSON. A flood of refusals for one reason writes a few lines in a second; the next
 * line for that reason says how many were left out (rule A13).
 */
export class RefusalLog {
  readonly #write: (line: string) => void;
  /** By what was refused, the rule and the code: a reason may quote what clients send. */
  readonly #kinds = new Map<string, Kind>();

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /**
   * Writes a refusal, or counts it.
   *
   * @param object the name of the object that refused; undefined at the edge
   */
  note(refusal: Refusal, object: string | undefined, nowMs: number): void {
    const sort = `${refusal.refused} ${refusal.rule} ${refusal.code ?? ""}`;
    const second = Math.floor(nowMs / 1_000);
    const kind = this.#kinds.get(sort) ?? { second, written: 0, leftOut: 0 };
    // Only the server's own words make keys, so there are few.
    this.#kinds.set(sort, kind);
    if (kind.second !== second) {
      kind.second = second;
      kind.written = 0;
    }
    if (kind.written >= limits.refusalLinesPerSecond) {
      kind.leftOut++;
      return;
    }
    kind.written++;
    const { refused, rule, reason, code, key, user, channel } = refusal;
    const line = {
      refused,
      rule,
      reason: bounded(reason),
      code,
      key,
      user: user === undefined ? undefined : bounded(user),
      channel: channel === undefined ? undefined : bounded(channel),
      object: object === undefined ? undefined : bounded(object),
      leftOut: kind.leftOut === 0 ? undefined : kind.leftOut,
    };
    kind.leftOut = 0;
    this.#write(JSON.stringify(line));
  }
}

interface Kind {
  second: number;
  written: number;
  /** Since the last line. */
  leftOut: number;
}

/** The least level of what is written: refusals are warnings (rule A13). */
export const logLevels = ["warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Sets the level of this isolate, which has one configuration. */
export function setLogLevel(to: LogLevel): void {
  level = to;
}

let level: LogLevel = "warn";

/** Notes a refusal in the log of this isolate, unless its level leaves it out; see {@link RefusalLog.note}. */
export function noteRefusal(refusal: Refusal, object: string | undefined): void {
  if (level === "error") return;
  log ??= new RefusalLog((line) => console.warn(line));
  log.note(refusal, object, Date.now());
}

/** Created by the first refusal. */
let log: RefusalLog | undefined;
