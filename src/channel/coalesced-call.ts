import { limits } from "../limits.ts";

/**
 * A question that many ask at once, and whose answer changes: it is asked once at a time. Whoever comes while it is under
 * way shares the next one with all who do, because what is being answered may be from before it came.
 */
export class CoalescedCall<Result> {
  readonly #call: (done: (result: Result) => void) => void;
  #waiting: ((result: Result) => void)[] = [];
  #underWay = false;

  /** @param call asks it; `done` is called once, now or later */
  constructor(call: (done: (result: Result) => void) => void) {
    this.#call = call;
  }

  /** Whether nobody waits for an answer. */
  get idle(): boolean {
    return !this.#underWay && this.#waiting.length === 0;
  }

  /**
   * @param done called once, now or later
   * @returns full: `limits.presenceWaitingMax` wait already, and this one isn't answered
   */
  ask(done: (result: Result) => void): "asked" | "full" {
    if (this.#waiting.length >= limits.presenceWaitingMax) return "full";
    this.#waiting.push(done);
    this.#begin();
    return "asked";
  }

  #begin(): void {
    if (this.#underWay || this.#waiting.length === 0) return;
    const callers = this.#waiting;
    this.#waiting = [];
    this.#underWay = true;
    this.#call((result) => {
      try {
        for (const done of callers) done(result);
      } finally {
        this.#underWay = false;
        this.#begin();
      }
    });
  }
}
