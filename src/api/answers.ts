import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import { type Entry, type ApiCommand, entriesOf, methodOf } from "./command.ts";
import type { ChannelCall } from "./calls.ts";
import type { ChannelAnswer, ChannelCommand } from "../contract/channel-call.ts";

/** What the backend is told about one command: a result, as JSON text, or an error and a word about it for people. */
export type ApiAnswer =
  | { readonly result: string }
  | { readonly error: ErrorCode; readonly detail?: string };

/** What became of one call to a channel's object. */
export type CallOutcome =
  | { readonly outcome: "answers"; readonly answers: readonly ChannelAnswer[] }
  /** Nothing of it was done. */
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number }
  /** Nothing of it was done: the request's time was over before the channel was asked. */
  | { readonly outcome: "not-begun"; readonly retryAfterSeconds: number }
  /** Nobody knows what of it was done. */
  | { readonly outcome: "timeout"; readonly retryAfterSeconds: number }
  | { readonly outcome: "failed" };

/** That a whole request came to nothing that is known of, and when to repeat it. */
export interface Retry {
  readonly seconds: number;
  /** Otherwise nobody knows what was done, and some may have been. */
  readonly nothingDone: boolean;
}

/**
 * Collects the answers of a request's calls and puts them into the order of its entries. It keeps no more text than
 * one answer may have (`limits.answerBytesMax`): a reading command that would go beyond gets error 106 instead.
 */
export class CollectedAnswers {
  readonly #answers: ApiAnswer[];
  #room = limits.answerBytesMax;
  #heard = false;
  #nothingDone = true;
  #retrySeconds: number | undefined;

  /** @param entries of the whole request; refused ones are answered at once */
  constructor(entries: readonly Entry[]) {
    this.#answers = entries.map((entry) =>
      entry.outcome === "refused" ? entry : { error: errorCodes.internal },
    );
  }

  /** Enters what became of one call. */
  add({ commands, entryIndexes }: ChannelCall, outcome: CallOutcome): void {
    if (outcome.outcome === "timeout") this.#nothingDone = false;
    const seconds = retrySecondsOf(outcome);
    if (seconds === undefined) this.#heard = true;
    else this.#retrySeconds = Math.max(seconds, this.#retrySeconds ?? 0);
    for (const [index, entryIndex] of entryIndexes.entries()) {
      const answer = outcomeAnswer(outcome, index);
      this.#answers[entryIndex] = this.#hasRoom(commands[index], answer) ? answer : tooMuch;
    }
  }

  /** An answer for every entry, in order. */
  inOrder(): readonly ApiAnswer[] {
    return this.#answers;
  }

  /**
   * When to repeat the request as a whole: after every one of its calls met an overloaded channel, a silent one or the
   * end of the request's time. Otherwise undefined.
   */
  retry(): Retry | undefined {
    if (this.#heard || this.#retrySeconds === undefined) return undefined;
    return { seconds: this.#retrySeconds, nothingDone: this.#nothingDone };
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
    case "not-begun":
      return notBegunAnswer;
    case "timeout":
      return { error: errorCodes.internal, detail: timeoutDetail };
    case "failed":
      break;
  }
  return { error: errorCodes.internal };
}

/** After how long a call that came to nothing is to be repeated; undefined when it was answered or failed. */
export function retrySecondsOf(outcome: CallOutcome): number | undefined {
  switch (outcome.outcome) {
    case "overloaded":
    case "not-begun":
    case "timeout":
      return outcome.retryAfterSeconds;
    case "answers":
    case "failed":
      break;
  }
  return undefined;
}

/** What a request is told, or one of its entries, when nothing was done because a channel is overloaded. */
export const overloadedAnswer = {
  error: errorCodes.tooManyRequests,
  detail: "the channel is overloaded; nothing was done, repeat later",
} as const satisfies ApiAnswer;

/** An entry's detail doesn't reach the backend, so its code must say it: after 111 nothing was done, after 100 who knows. */
const notBegunAnswer: ApiAnswer = {
  error: errorCodes.tooManyRequests,
  detail:
    "the request's time was over before the channel was asked; nothing was done, repeat later",
};

const timeoutDetail =
  "the channel did not answer in time; the outcome is unknown, repeat with the same idempotency_key";
const tooMuch: { readonly error: ErrorCode; readonly detail: string } = {
  error: errorCodes.limitExceeded,
  detail: `the answers are together over ${limits.answerBytesMax} characters`,
};

/** The answer to a command from the answers to its entries: a broadcast lists them in its result. */
export function commandAnswer(command: ApiCommand, answers: readonly ApiAnswer[]): ApiAnswer {
  if (command.form === "broadcast") {
    return { result: `{"responses":[${answers.map(encodeAnswer).join(",")}]}` };
  }
  // A caller that lost an answer has a fault of its own.
  return answers[0] ?? { error: errorCodes.internal };
}

/** The answers to several commands from the answers to all their entries, in order. */
export function commandAnswers(
  commands: readonly ApiCommand[],
  answers: readonly ApiAnswer[],
): readonly ApiAnswer[] {
  let taken = 0;
  return commands.map((command) => {
    const start = taken;
    taken += entriesOf(command).length;
    return commandAnswer(command, answers.slice(start, taken));
  });
}

/** A body, or an entry of `responses`: `{"result":…}` or `{"error":…}` (docs/protocol.md 6.1). */
export function encodeAnswer(answer: ApiAnswer): string {
  return "result" in answer
    ? `{"result":${answer.result}}`
    : `{"error":${encodeError(answer.error)}}`;
}

/** The body of a batch's answer: no result around it, and the method's name instead of `result` inside. */
export function encodeReplies(
  commands: readonly ApiCommand[],
  answers: readonly ApiAnswer[],
): string {
  const replies = commandAnswers(commands, answers).map((answer, index) => {
    const command = commands[index];
    return "result" in answer && command !== undefined
      ? `{"${methodOf(command)}":${answer.result}}`
      : encodeAnswer(answer);
  });
  return `{"replies":[${replies.join(",")}]}`;
}

/** The body of the legacy form's answer: a line for each command, with the id that the command had. */
export function encodeLines(ids: readonly number[], answers: readonly ApiAnswer[]): string {
  return answers
    .map((answer, index) => `{"id":${ids[index] ?? 0},${encodeAnswer(answer).slice(1)}\n`)
    .join("");
}

/** An error as the HTTP API writes it: unlike on a WebSocket without `temporary`. */
export function encodeError({ code, message }: ErrorCode): string {
  return JSON.stringify({ code, message });
}

/**
 * A detail as it may stand in a response header: one line of printable ASCII, 200 characters at most. Whatever else
 * there was is shown as "?".
 */
export function headerDetail(detail: string): string {
  return detail.slice(0, 200).replaceAll(/[^ -~]/g, "?");
}

/** The statuses that errors get in transport mode (docs/protocol.md 6.1). */
type ErrorStatus = 400 | 404 | 409 | 416 | 429 | 500;

/** The HTTP status of an application error when the backend asks for transport mode. */
export function errorStatus({ code }: ErrorCode): ErrorStatus {
  return statuses.get(code) ?? 400;
}

const statuses: ReadonlyMap<number, ErrorStatus> = new Map([
  [100, 500],
  [102, 404],
  [104, 404],
  [106, 400],
  [107, 400],
  [108, 404],
  [111, 429],
  [112, 416],
  [113, 409],
]);
