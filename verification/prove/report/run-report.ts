import type { Verdict } from "../../checker/verdict.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Course } from "./course.ts";

/** All that a report is made of. */
export interface RunReport extends RunFacts {
  readonly verdict: Verdict;
  readonly course: Course;
}

/** Whether all guarantees held. */
export function held({ verdict }: RunReport): boolean {
  return verdict.violationCounts.size === 0;
}

/** Times to recover, ms. */
export interface RecoveryFigures {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

/** How long it took from the end of a subscription to the reply that recovered it. */
export function recoveryFigures({ recoveryTimes }: Verdict): RecoveryFigures {
  const sorted = [...recoveryTimes].sort((left, right) => left - right);
  const at = (share: number): number =>
    Math.round(
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) / 1_000,
    );
  return { count: sorted.length, median: at(0.5), p99: at(0.99), most: at(1) };
}
