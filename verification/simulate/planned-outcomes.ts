import { type CallKind, type CallName, type CallOutcome, smooth } from "./network.ts";

/** What becomes of calls when a test says so; all others go well. */
export class PlannedOutcomes {
  readonly #planned = new Map<CallKind, CallOutcome[]>();

  readonly chooseOutcome = ({ kind }: CallName): CallOutcome =>
    this.#planned.get(kind)?.shift() ?? smooth;

  /** What becomes of the next calls of a kind, one after the other. */
  plan(kind: CallKind, ...outcomes: readonly CallOutcome[]): void {
    const planned = this.#planned.get(kind) ?? [];
    this.#planned.set(kind, [...planned, ...outcomes]);
  }
}
