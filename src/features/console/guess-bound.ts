/**
 * Bounds how often a secret can be guessed, whatever address the guesses come from (rule N10). A guess counts as wrong
 * before it is compared, so guesses that arrive together count one by one.
 */
import { consoleLimits } from "./limits.ts";
import { elapsed } from "../../moment.ts";

export class GuessBound {
  #wrong = 0;
  #lastMs = 0;
  #closedUntilMs = 0;

  /**
   * Counts a guess, unless guesses have to wait.
   *
   * @returns 0 if the guess may be compared; otherwise how long guesses have to wait, in ms
   */
  attempt(nowMs: number): number {
    const waitMs = this.#closedUntilMs - nowMs;
    // A longer wait than the longest one is left from a clock that was set back.
    if (waitMs > 0 && waitMs <= consoleLimits.consoleGuessWaitMsMax) return waitMs;
    if (elapsed(this.#lastMs, consoleLimits.consoleGuessesForgottenMs, nowMs)) this.#wrong = 0;
    this.#lastMs = nowMs;
    this.#wrong++;
    const over = this.#wrong - consoleLimits.consoleGuessesFree;
    const nextMs = Math.min(
      consoleLimits.consoleGuessWaitMs * 2 ** over,
      consoleLimits.consoleGuessWaitMsMax,
    );
    if (over >= 0) this.#closedUntilMs = nowMs + nextMs;
    return 0;
  }

  /** Takes back that the last guess counts as wrong. A wait that has begun goes on. */
  right(): void {
    this.#wrong = Math.max(0, this.#wrong - 1);
  }
}
