import { type CallKind, type CallName, type Fate, smooth } from "./network.ts";

/** What becomes of calls when a test says so; all others go well. */
export class PlannedFates {
  readonly #planned = new Map<CallKind, Fate[]>();

  readonly fateOf = ({ kind }: CallName): Fate => this.#planned.get(kind)?.shift() ?? smooth;

  /** What becomes of the next calls of a kind, one after the other. */
  plan(kind: CallKind, ...fates: readonly Fate[]): void {
    const planned = this.#planned.get(kind) ?? [];
    this.#planned.set(kind, [...planned, ...fates]);
  }
}
