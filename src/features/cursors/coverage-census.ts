import type { ReadonlyUserProofs, UserProof } from "./coverage.ts";

/** Asks those who hold connections of users what these are known to have got of the channel (rule CU10). */
export interface CoverageCensus {
  /**
   * @param users "all": everybody who is connected
   * @param done  called once, later or at once
   * @param upTo  who can still prove to have got everything up to this offset is told; absent: nobody is
   */
  ask(
    users: ReadonlySet<string> | "all",
    done: (found: FoundCoverage) => void,
    upTo?: number,
  ): void;
}

/** What a census has found. It is written in the users' rows where it says more than these. */
export interface FoundCoverage {
  /** The proofs of the gateways that answered. A row may still have one of a user who isn't here. */
  readonly proofs: ReadonlyUserProofs;
  /** Users with a connection of which an answer to its next ping may prove more than is known of it. */
  readonly unsure: ReadonlySet<string>;
  /** Whether all have answered in time. */
  readonly isComplete: boolean;
}

/** What a channel's object asks a gateway. */
export interface ArrivedQuestion {
  readonly channel: string;
  /** Absent: all. */
  readonly users?: readonly string[];
  /** Who can still prove to have got everything up to this offset is told. Absent: nobody is. */
  readonly upTo?: number;
}

/** The answer of a gateway. Users of whom it knows nothing are left out, and one has a proof for each stretch. */
export interface ArrivedOnGateway {
  readonly proofs: readonly UserProof[];
  /** Those who can still prove more. Absent: nobody can. */
  readonly unsure?: readonly string[];
}
