import type { Coverage } from "./coverage.ts";

/** Asks those who hold connections of users what these are known to have got of the channel (rule CU10). */
export interface CoverageCensus {
  /**
   * @param users "all": everybody who is connected
   * @param done  called once, later or at once
   */
  ask(users: ReadonlySet<string> | "all", done: (found: FoundCoverage) => void): void;
}

/** What a census has found. It is written in the users' rows where it says more than these. */
export interface FoundCoverage {
  /** By user: what those who answered know. Who isn't here may still be known by a row. */
  readonly proofs: ReadonlyMap<string, Coverage>;
  /** Whether all have answered in time. */
  readonly isComplete: boolean;
}
