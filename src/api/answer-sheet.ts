import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { ApiAnswer } from "./answer.ts";
import type { Entry } from "./api-command.ts";
import type { ChannelCall } from "./call-plan.ts";
import type { ChannelAnswer, ChannelCommand } from "./channel-command.ts";

/** What became of one call to a channel's object. */
export type CallOutcome =
  | { readonly outcome: "answers"; readonly answers: readonly ChannelAnswer[] }
  /** Nothing of it was done. */
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number }
  /** Nobody knows what of it was done. */
  | { readonly outcome: "timeout" }
  | { readonly outcome: "failed" };

/**
 * Collects the answers of a request's calls and puts them into the order of its entries. It keeps no more text than
 * one answer may have (`limits.answerBytesMax`): a reading command that would go beyond gets error 106 instead.
 */
export class AnswerSheet {
  readonly #answers: ApiAnswer[];
  #room = limits.answerBytesMax;
  #calls = 0;
  readonly #retryAfterSeconds: number[] = [];

  /** @param entries of the whole request; refused ones are answered at once */
  constructor(entries: readonly Entry[]) {
    this.#answers = entries.map((entry) =>
      entry.outcome === "refused" ? entry : { error: errorCodes.internal },
    );
  }

  /** Enters what became of one call. */
  enter({ commands, places }: ChannelCall, outcome: CallOutcome): void {
    this.#calls++;
    if (outcome.outcome === "overloaded") this.#retryAfterSeconds.push(outcome.retryAfterSeconds);
    for (const [index, place] of places.entries()) {
      const answer = outcomeAnswer(outcome, index);
      this.#answers[place] = this.#hasRoom(commands[index], answer) ? answer : tooMuch;
    }
  }

  /** An answer for every entry, in order. */
  answers(): readonly ApiAnswer[] {
    return this.#answers;
  }

  /**
   * When all the channels that were asked are overloaded: nothing was done, and the request as a whole can be repeated
   * after so many seconds. Otherwise undefined.
   */
  overloadedSeconds(): number | undefined {
    return this.#calls > 0 && this.#retryAfterSeconds.length === this.#calls
      ? Math.max(...this.#retryAfterSeconds)
      : undefined;
  }

  #hasRoom(command: ChannelCommand | undefined, answer: ApiAnswer): boolean {
    if (!("result" in answer)) return true;
    // What a writing command did must be told, and its results are small.
    if (command?.method === "publish" || command?.method === "history_remove") return true;
    if (answer.result.length > this.#room) return false;
    this.#room -= answer.result.length;
    return true;
  }
}

/** The answer to the command with that index in a call. */
export function outcomeAnswer(outcome: CallOutcome, index: number): ApiAnswer {
  switch (outcome.outcome) {
    case "answers":
      return outcome.answers[index] ?? { error: errorCodes.internal };
    case "overloaded":
      return overloadedAnswer;
    case "timeout":
      return { error: errorCodes.internal, detail: timeoutDetail };
    case "failed":
      break;
  }
  return { error: errorCodes.internal };
}

/** What a request is told, or one of its entries, when nothing was done because a channel is overloaded. */
export const overloadedAnswer: ApiAnswer = {
  error: errorCodes.tooManyRequests,
  detail: "the channel is overloaded; nothing was done, repeat later",
};

const timeoutDetail =
  "the channel did not answer in time; the outcome is unknown, repeat with the same idempotency_key";
const tooMuch: { readonly error: ErrorCode; readonly detail: string } = {
  error: errorCodes.limitExceeded,
  detail: `the answers are together over ${limits.answerBytesMax} characters`,
};
