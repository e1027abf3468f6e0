import type { Home } from "../users/home.ts";
import { limits } from "../limits.ts";
import { forEachInTurns } from "./in-turns.ts";
import { answerOf } from "./object-call.ts";
import type { Platform } from "./platform.ts";

/**
 * Asks objects whom they hold, when a home was made anew after its instance had ended with registrations that it hadn't
 * written (rule U41). It asks some at a time, and again after ever longer pauses those that don't answer. They get every
 * order meanwhile.
 */
export class UnsureHolders {
  readonly #home: Pick<Home, "unsure" | "resolve">;
  readonly #platform: Pick<Platform, "name" | "nowMs" | "after" | "call">;
  readonly #endEvent: (nowMs: number) => void;

  /** @param endEvent called when answers have come, and what follows from them is written */
  constructor(
    home: Pick<Home, "unsure" | "resolve">,
    platform: Pick<Platform, "name" | "nowMs" | "after" | "call">,
    endEvent: (nowMs: number) => void,
  ) {
    this.#home = home;
    this.#platform = platform;
    this.#endEvent = endEvent;
  }

  /** Asks them after a pause; does nothing if there are none. */
  askAfter(waitMs: number): void {
    if (this.#home.unsure.length === 0 || waitMs > limits.unsureAskMsMax) return;
    this.#platform.after(waitMs, () =>
      forEachInTurns(this.#home.unsure, limits.unsureAskedAtOnce, this.#ask, () => {
        this.#endEvent(this.#platform.nowMs());
        this.askAfter(waitMs * 4);
      }),
    );
  }

  readonly #ask = (holder: string, answered: () => void): void => {
    const { name } = this.#platform;
    this.#platform.call("heldOf", holder, [name], limits.holderAnswerMs, (reply) => {
      const held = answerOf(reply);
      if (held !== undefined) this.#home.resolve(holder, held, this.#platform.nowMs());
      answered();
    });
  };
}
