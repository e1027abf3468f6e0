import type { Home } from "./home.ts";
import type { HeldKeys } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { forEachInTurns } from "./in-turns.ts";

/**
 * Asks objects whom they hold, when a home was made anew after its instance had ended with registrations that it hadn't
 * written (rule U41). It asks some at a time, and again after ever longer pauses those that don't answer. They get every
 * order meanwhile.
 */
export class UnsureHolders {
  readonly #home: Pick<Home, "unsure" | "resolve">;
  readonly #port: AskingPort;

  constructor(home: Pick<Home, "unsure" | "resolve">, port: AskingPort) {
    this.#home = home;
    this.#port = port;
  }

  /** Asks them after a pause; does nothing if there are none. */
  askAfter(waitMs: number): void {
    if (this.#home.unsure.length === 0 || waitMs > limits.unsureAskMsMax) return;
    this.#port.after(waitMs, () =>
      forEachInTurns(this.#home.unsure, limits.unsureAskedAtOnce, this.#ask, () => {
        this.#port.answered();
        this.askAfter(waitMs * 4);
      }),
    );
  }

  readonly #ask = (holder: string, answered: () => void): void =>
    this.#port.ask(holder, (held) => {
      if (held !== undefined) this.#home.resolve(holder, held, this.#port.nowMs());
      answered();
    });
}

/** The home's object. */
interface AskingPort {
  nowMs(): number;
  after(waitMs: number, work: () => void): void;
  /** Asks an object whom it holds; calls back with undefined if it doesn't answer. */
  ask(holder: string, done: (held: HeldKeys | undefined) => void): void;
  /** All have answered, or didn't: ends the event. */
  answered(): void;
}
