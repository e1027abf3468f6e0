import type { Happening } from "../checker/happening.ts";
import type { Timeline } from "./timeline.ts";

type Timeless<Each> = Each extends Happening ? Omit<Each, "time"> : never;

/** Takes down what happens, for the checker: one after the other, and no two at the same µs. */
export class Chronicle {
  readonly happenings: Happening[] = [];
  readonly #timeline: Timeline;
  #lastUs = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  note(happening: Timeless<Happening>): void {
    this.#lastUs = Math.max(this.#lastUs + 1, this.#timeline.nowMs * 1_000);
    this.happenings.push({ ...happening, time: this.#lastUs });
  }
}
