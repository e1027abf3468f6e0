/**
 * The answers of the HTTP API: one for each entry of a request, collected from the calls to the channels' objects, put
 * in the order of the request (rule W3) and written as JSON. The edge chooses the statuses of whole responses
 * (`workers/http/responses.ts`).
 */
import { operationOf } from "./operations.ts";
import { limits } from "../limits.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import { type Entry, type ApiCommand, entriesOf, methodOf } from "./command.ts";
import type { ObjectCall } from "./calls.ts";
import type { ChannelOperation } from "../contract/channel-call.ts";
import type { ChannelConfig } from "../config/config.ts";
import { optionsPlace } from "../config/name-parts.ts";

/** The backend's answer to one command: a result, as JSON text, or an error with a detail for the operator. */
export type ApiAnswer =
  | { readonly result: string }
  | {
      readonly error: ErrorCode;
      readonly detail?: string;
      /** The command is kept, and will be carried out without being repeated. */
      readonly kept?: true;
    };

/** The outcome of one call to a channel's object or a user's home. */
export type CallOutcome =
  /** All orders of the call have been carried out. */
  | { readonly outcome: "done" }
  /** The orders of the call are kept and repeated, but not all objects have carried them out in time. */
  | { readonly outcome: "pending"; readonly retryAfterSeconds: number }
  | { readonly outcome: "answers"; readonly answers: readonly ApiAnswer[] }
  /** None of the call's orders was taken, because the user's home keeps no more of them. */
  | { readonly outcome: "limit-exceeded" }
  /** None of the call's commands was carried out. */
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number }
  /** None of the call's commands was carried out: the request timed out before the channel's object was called. */
  | { readonly outcome: "not-begun"; readonly retryAfterSeconds: number }
  /** It is unknown which of the call's commands were carried out. */
  | { readonly outcome: "timeout"; readonly retryAfterSeconds: number }
  | { readonly outcome: "failed"; readonly detail?: string };

/**
 * Every call of a request met an overloaded channel, timed out, or was never made. The backend should retry the request
 * after so many seconds.
 */
export interface Retry {
  readonly seconds: number;
  /**
   * Whether certainly nothing was done. If false, the outcome is unknown, and some commands may have been carried out.
   */
  readonly nothingDone: boolean;
}

/**
 * Collects the answers of a request's calls and puts them into the order of its entries. It holds at most
 * `limits.answerBytesMax` characters of results: a reading command whose result would exceed them gets error 106
 * instead.
 */
export class CollectedAnswers {
  readonly #answers: ApiAnswer[];
  #room = limits.answerBytesMax;
  #answered = false;
  #nothingDone = true;
  #retrySeconds: number | undefined;

  /** @param entries of the whole request; refused entries are answered at once */
  constructor(entries: readonly Entry[]) {
    this.#answers = entries.map((entry) =>
      entry.outcome === "refused" ? entry : { error: errorCodes.internal },
    );
  }

  /** Adds the outcome of one call. */
  record(call: ObjectCall, outcome: CallOutcome): void {
    if (outcome.outcome === "timeout" || outcome.outcome === "pending") this.#nothingDone = false;
    const seconds = retrySecondsOf(outcome);
    if (seconds === undefined) this.#answered = true;
    else this.#retrySeconds = Math.max(seconds, this.#retrySeconds ?? 0);
    for (const [index, entryIndex] of call.entryIndexes.entries()) {
      const answer = outcomeAnswer(outcome, index);
      const command = "commands" in call ? call.commands[index] : undefined;
      this.#answers[entryIndex] = this.#hasRoom(command, answer) ? answer : tooMuch;
    }
  }

  /** One answer for each entry, in the order of the entries. */
  inOrder(): readonly ApiAnswer[] {
    return this.#answers;
  }

  /**
   * When to retry the request as a whole: if each of its calls met an overloaded channel or a channel that didn't
   * answer in time, or was never made because the request timed out. Undefined otherwise.
   */
  retry(): Retry | undefined {
    if (this.#answered || this.#retrySeconds === undefined) return undefined;
    return { seconds: this.#retrySeconds, nothingDone: this.#nothingDone };
  }

  #hasRoom(command: ChannelOperation | undefined, answer: ApiAnswer): boolean {
    if (!("result" in answer)) return true;
    // The backend must learn what a writing command did, and the results of writing commands are small.
    if (command !== undefined && operationOf(command.method).changes === true) return true;
    if (answer.result.length > this.#room) return false;
    this.#room -= answer.result.length;
    return true;
  }
}

/** The answer to the command at this index of a call. */
export function outcomeAnswer(outcome: CallOutcome, index: number): ApiAnswer {
  switch (outcome.outcome) {
    case "answers":
      return outcome.answers[index] ?? { error: errorCodes.internal };
    case "done":
      return { result: "{}" };
    case "pending":
      return { error: errorCodes.internal, detail: pendingDetail, kept: true };
    case "limit-exceeded":
      return { error: errorCodes.limitExceeded, detail: limitDetail };
    case "overloaded":
      return overloadedAnswer;
    case "not-begun":
      return notBegunAnswer;
    case "timeout":
      return { error: errorCodes.internal, detail: timeoutDetail };
    case "failed": {
      const { detail } = outcome;
      return { error: errorCodes.internal, ...(detail !== undefined && { detail }) };
    }
  }
}

/**
 * The seconds after which a call without an answer should be repeated; undefined if the call was answered or failed.
 */
function retrySecondsOf(outcome: CallOutcome): number | undefined {
  switch (outcome.outcome) {
    case "pending":
    case "overloaded":
    case "not-begun":
    case "timeout":
      return outcome.retryAfterSeconds;
    case "done":
    case "answers":
    case "limit-exceeded":
    case "failed":
      break;
  }
  return undefined;
}

const limitDetail = `the user has ${limits.invalidationsPerUserMax} invalidations of tokens that haven't ended; nothing was done`;

/** The answer to a whole request, or to one entry, if nothing was done because a channel is overloaded. */
export const overloadedAnswer = {
  error: errorCodes.tooManyRequests,
  detail: "the channel is overloaded; nothing was done, retry later",
} as const satisfies ApiAnswer;

/**
 * The detail of an entry doesn't reach the backend, so the code must say what happened: after 111 nothing was done,
 * after 100 the outcome is unknown.
 */
const notBegunAnswer: ApiAnswer = {
  error: errorCodes.tooManyRequests,
  detail: "the request timed out before the channel was called; nothing was done, retry later",
};

const pendingDetail =
  "not all objects with connections of the user have answered yet; the order is kept and repeated until they do";
const timeoutDetail =
  "the channel did not answer in time; the outcome is unknown, retry with the same idempotency_key";
const tooMuch: { readonly error: ErrorCode; readonly detail: string } = {
  error: errorCodes.limitExceeded,
  detail: `the answers together exceed ${limits.answerBytesMax} characters`,
};

/**
 * Makes the answer to a command from the answers to its entries: the result of a broadcast lists them.
 *
 * @param detailed as {@link encodeAnswer} has it
 */
export function commandAnswer(
  command: ApiCommand,
  answers: readonly ApiAnswer[],
  detailed?: boolean,
): ApiAnswer {
  if (command.form === "broadcast") {
    const responses = answers.map((answer) => encodeAnswer(answer, detailed));
    return { result: `{"responses":[${responses.join(",")}]}` };
  }
  // A missing answer is an internal error, not a fault of the backend.
  return answers[0] ?? { error: errorCodes.internal };
}

/** Makes the answers to several commands from the answers to all their entries, in order. */
export function commandAnswers(
  commands: readonly ApiCommand[],
  answers: readonly ApiAnswer[],
  detailed?: boolean,
): readonly ApiAnswer[] {
  let taken = 0;
  return commands.map((command) => {
    const start = taken;
    taken += entriesOf(command).length;
    return commandAnswer(command, answers.slice(start, taken), detailed);
  });
}

/**
 * Writes an answer as a body or as an entry of `responses`: `{"result":…}` or `{"error":…}` (docs/protocol.md 6.1).
 *
 * @param detailed whether an error has its detail, as on a developer's machine (rule W12)
 */
export function encodeAnswer(answer: ApiAnswer, detailed?: boolean): string {
  return "result" in answer
    ? `{"result":${answer.result}}`
    : `{"error":${encodeError(answer, detailed)}}`;
}

/** Writes the body of a batch's response. A reply has the method's name in place of `result`. */
export function encodeReplies(
  commands: readonly ApiCommand[],
  answers: readonly ApiAnswer[],
  detailed?: boolean,
): string {
  const replies = commandAnswers(commands, answers, detailed).map((answer, index) => {
    const command = commands[index];
    return "result" in answer && command !== undefined
      ? `{"${methodOf(command)}":${answer.result}}`
      : encodeAnswer(answer, detailed);
  });
  return `{"replies":[${replies.join(",")}]}`;
}

/** Writes the body of the legacy form's response: a line for each command, with the command's id. */
export function encodeLines(
  ids: readonly number[],
  answers: readonly ApiAnswer[],
  detailed?: boolean,
): string {
  return answers
    .map((answer, index) => `{"id":${ids[index] ?? 0},${encodeAnswer(answer, detailed).slice(1)}\n`)
    .join("");
}

/** Writes an error as the HTTP API has it: without `temporary`, which errors on a WebSocket have. */
export function encodeError(
  { error: { code, message }, detail }: { readonly error: ErrorCode; readonly detail?: string },
  detailed?: boolean,
): string {
  return JSON.stringify({ code, message, ...(detailed === true && { detail }) });
}

/**
 * Makes a detail fit for a response header: one line of printable ASCII, at most 200 characters. Any other character
 * becomes "?".
 */
export function headerDetail(detail: string): string {
  return detail.slice(0, 200).replaceAll(/[^ -~]/g, "?");
}

/** The statuses of errors in transport mode (docs/protocol.md 6.1). */
type ErrorStatus = 400 | 403 | 404 | 409 | 416 | 429 | 500;

/** The HTTP status of an application error in transport mode. */
export function errorStatus({ code }: ErrorCode): ErrorStatus {
  return statuses.get(code) ?? 400;
}

const statuses: ReadonlyMap<number, ErrorStatus> = new Map([
  [100, 500],
  [102, 404],
  [103, 403],
  [104, 404],
  [106, 400],
  [107, 400],
  [108, 400],
  [111, 429],
  [112, 416],
  [113, 409],
]);

/**
 * The outcome of a call to a channel's object, with a detail in each error 108: which option the channel's namespace
 * lacks. The object says only that something isn't available.
 */
export function withCauses(
  outcome: CallOutcome,
  channel: string,
  commands: readonly ChannelOperation[],
  config: ChannelConfig,
): CallOutcome {
  if (outcome.outcome !== "answers" || !outcome.answers.some(lacksCause)) return outcome;
  const place = optionsPlace(channel, config);
  const answers = outcome.answers.map((answer, index) => {
    const what = neededBy(commands[index]);
    return lacksCause(answer) && what !== undefined
      ? { error: errorCodes.notAvailable, detail: `${place}: ${what}` }
      : answer;
  });
  return { outcome: "answers", answers };
}

function lacksCause(answer: ApiAnswer): boolean {
  return "error" in answer && answer.error.code === errorCodes.notAvailable.code;
}

/** The option that is off if an operation isn't available. */
function neededBy(command: ChannelOperation | undefined): string | undefined {
  const method = command?.method;
  if (method === "history" || method === "history_remove")
    return "history is off (history_size and history_ttl)";
  return method === "presence" || method === "presence_stats" ? "presence is off" : undefined;
}
