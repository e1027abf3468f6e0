import { limits } from "../limits.ts";

/**
 * A call that many callers want at once and whose result changes, such as the presence of a channel (known as
 * singleflight). One call is in flight at a time. A caller that comes while a call is in flight shares the next call
 * with all other callers that come meanwhile, because the result of the call in flight may be from before the caller
 * came.
 */
export class CoalescedCall<Result> {
  readonly #call: (done: (result: Result) => void) => void;
  #waiting: ((result: Result) => void)[] = [];
  #underWay = false;

  /** @param call makes the call, and calls `done` once, now or later */
  constructor(call: (done: (result: Result) => void) => void) {
    this.#call = call;
  }

  /** Whether no call is in flight and no caller waits. */
  get idle(): boolean {
    return !this.#underWay && this.#waiting.length === 0;
  }

  /**
   * Asks for a result.
   *
   * @param done called once, now or later
   * @returns full: `limits.presenceWaitingMax` callers wait already, and `done` is never called
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
