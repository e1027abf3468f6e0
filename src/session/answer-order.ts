import type { Decision } from "./decision.ts";

/**
 * Keeps the answers to what one connection asks of one channel in the order of the commands (rule O6): some are known at
 * once, and others when the channel's object has answered.
 */
export class AnswerOrder {
  readonly #open = new Map<string, Answer[]>();
  readonly #emptied: (channel: string) => void;

  /** @param emptied called whenever all that was asked of a channel is answered */
  constructor(emptied: (channel: string) => void) {
    this.#emptied = emptied;
  }

  /** Whether everything is answered. */
  get idle(): boolean {
    return this.#open.size === 0;
  }

  /** Whether something that was asked of a channel isn't answered yet. */
  isOpen(channel: string): boolean {
    return this.#open.has(channel);
  }

  /**
   * Takes a place in the order.
   *
   * @param apply is called, in its turn, with what the command came to
   * @returns takes what the command came to; more than the first counts for nothing
   */
  reserve(channel: string, apply: (decision: Decision) => void): (decision: Decision) => void {
    const answer: Answer = { apply, decision: undefined };
    const answers = this.#open.get(channel);
    if (answers === undefined) this.#open.set(channel, [answer]);
    else answers.push(answer);
    return (decision) => {
      answer.decision ??= decision;
      this.#release(channel);
    };
  }

  /** Nothing is answered any more. */
  clear(): void {
    this.#open.clear();
  }

  #release(channel: string): void {
    const answers = this.#open.get(channel) ?? [];
    for (let first = answers[0]; first?.decision !== undefined; first = answers[0]) {
      answers.shift();
      if (answers.length === 0) this.#open.delete(channel);
      first.apply(first.decision);
      if (!this.#open.has(channel)) this.#emptied(channel);
    }
  }
}

interface Answer {
  readonly apply: (decision: Decision) => void;
  decision: Decision | undefined;
}
