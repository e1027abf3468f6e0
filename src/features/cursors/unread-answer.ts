import type { ErrorCode } from "../../protocol/codes.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";

/** The answer of one channel: the count as JSON text, or why it isn't known. */
export type UnreadAnswer =
  | { readonly result: string }
  | { readonly error: Pick<ErrorCode, "code" | "message"> };

/** Writes the answer to a question for unread publications of these channels (rule CU4): `{"channels":{…}}`. */
export function encodeUnread(
  channels: readonly string[],
  answers: ReadonlyMap<string, UnreadAnswer>,
): JsonText {
  const members = channels.map((one) => `${JSON.stringify(one)}:${encodeOne(answers.get(one))}`);
  return trustedJsonText(`{"channels":{${members.join(",")}}}`);
}

function encodeOne(answer: UnreadAnswer | undefined): string {
  if (answer === undefined) return "{}";
  if ("result" in answer) return answer.result;
  const { code, message } = answer.error;
  return JSON.stringify({ error: { code, message } });
}
