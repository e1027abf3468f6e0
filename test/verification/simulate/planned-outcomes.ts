import { type CallKind, type CallName, type CallOutcome, smooth } from "./network.ts";

/** Outcomes of calls that a test sets; all other calls succeed. */
export class PlannedOutcomes {
  readonly #planned = new Map<CallKind, CallOutcome[]>();

  readonly chooseOutcome = ({ kind }: CallName): CallOutcome =>
    this.#planned.get(kind)?.shift() ?? smooth;

  /** Sets the outcomes of the next calls of a kind, in order. */
  plan(kind: CallKind, ...outcomes: readonly CallOutcome[]): void {
    const planned = this.#planned.get(kind) ?? [];
    this.#planned.set(kind, [...planned, ...outcomes]);
  }
}
