import { limits } from "../limits.ts";

/**
 * A question that many ask at once, and whose answer changes: it is asked once at a time. Whoever comes while it is under
 * way shares the next one with all who do, because what is being answered may be from before it came.
 */
export class CoalescedCall<Answer> {
  readonly #ask: (done: (answer: Answer) => void) => void;
  #waiting: ((answer: Answer) => void)[] = [];
  #underWay = false;

  /** @param ask asks it; `answered` is called once, now or later */
  constructor(ask: (done: (answer: Answer) => void) => void) {
    this.#ask = ask;
  }

  /** Whether nobody waits for an answer. */
  get idle(): boolean {
    return !this.#underWay && this.#waiting.length === 0;
  }

  /**
   * @param done called once, now or later
   * @returns full: `limits.presenceWaitingMax` wait already, and this one isn't answered
   */
  ask(done: (answer: Answer) => void): "asked" | "full" {
    if (this.#waiting.length >= limits.presenceWaitingMax) return "full";
    this.#waiting.push(done);
    this.#begin();
    return "asked";
  }

  #begin(): void {
    if (this.#underWay || this.#waiting.length === 0) return;
    const asking = this.#waiting;
    this.#waiting = [];
    this.#underWay = true;
    this.#ask((answer) => {
      try {
        for (const answered of asking) answered(answer);
      } finally {
        this.#underWay = false;
        this.#begin();
      }
    });
  }
}
