import type { CheckResult } from "../../checker/check-result.ts";
import type { RunFacts } from "../run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** The data of a report. */
export interface RunReport extends RunFacts {
  readonly result: CheckResult;
  readonly timeline: RunTimeline;
}

/** Whether all guarantees held. */
export function held({ result }: RunReport): boolean {
  return result.violationCounts.size === 0;
}

/** Times to recover, ms. */
export interface RecoveryFigures {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

/** How long it took from the end of a subscription to the reply that recovered it. */
export function recoveryFigures({ recoveryTimes }: CheckResult): RecoveryFigures {
  const sorted = [...recoveryTimes].sort((left, right) => left - right);
  const at = (share: number): number =>
    Math.round(
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) / 1_000,
    );
  return { count: sorted.length, median: at(0.5), p99: at(0.99), most: at(1) };
}
