import type { LossPlace, Violation, ViolationKind } from "./check-result.ts";

/** Complains about somebody. */
export type Complain = (kind: ViolationKind, process: string, time: number, text: string) => void;

/** Collects violations: the first thousand in full, and counts of all. */
export class Violations {
  readonly list: Violation[] = [];
  readonly counts = new Map<ViolationKind, number>();
  readonly lossCounts = new Map<LossPlace, number>();

  /** Adds one violation. */
  add(violation: Violation): void {
    this.#count(violation.kind, 1);
    if (violation.place !== undefined) this.#countLoss(violation.place, 1);
    if (this.list.length < listedMax) this.list.push(violation);
  }

  /** Adds violations on one channel. */
  on(channel: string): Complain {
    return (kind, process, time, text) => this.add({ kind, channel, process, time, text });
  }

  /** Counts more losses in the same place as the ones before, without a sentence for each. */
  addUnlisted(place: LossPlace, count: number): void {
    if (count <= 0) return;
    this.#count("lost", count);
    this.#countLoss(place, count);
  }

  #count(kind: ViolationKind, count: number): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + count);
  }

  #countLoss(place: LossPlace, count: number): void {
    this.lossCounts.set(place, (this.lossCounts.get(place) ?? 0) + count);
  }
}

const listedMax = 1000;
