import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import { type ApiCommand, entriesOf, methodOf } from "./command.ts";

/** What the backend is told about one command: a result, as JSON text, or an error and a word about it for people. */
export type ApiAnswer =
  | { readonly result: string }
  | { readonly error: ErrorCode; readonly detail?: string };

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

/** A body, or an entry of `responses`: `{"result":…}` or `{"error":…}` (reference 6.1). */
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
