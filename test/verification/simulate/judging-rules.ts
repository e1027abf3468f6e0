import type { JudgedRange } from "../../../src/features/cursors/audience/judged-progress.ts";
import { togetherMs } from "./cursor-kinds.ts";

/** How often an object judges: what is old enough within a tenth of the time is one stretch (rule CU24). */
export class JudgingRules {
  readonly #complain: (what: string) => void;
  /** The stretch that was begun last, and when it was for the first time. */
  #last: (Pick<JudgedRange, "epoch" | "after"> & { readonly begunMs: number }) | undefined;

  constructor(complain: (what: string) => void) {
    this.#complain = complain;
  }

  /** The object begins to judge a stretch, or goes on with it. */
  begins({ epoch, after, last }: JudgedRange, nowMs: number): void {
    const before = this.#last;
    if (before?.epoch === epoch && before.after === after) return;
    const sinceMs = nowMs - (before?.begunMs ?? 0);
    if (sinceMs < togetherMs)
      this.#complain(`judges ${after + 1} to ${last} of ${epoch} after ${sinceMs} ms`);
    this.#last = { epoch, after, begunMs: nowMs };
  }
}
