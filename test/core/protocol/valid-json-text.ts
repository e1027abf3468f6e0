import { type JsonText, parseJsonText } from "../../../src/protocol/json/text.ts";

/** JSON text that the test's author vouches for. */
export function valid(text: string): JsonText {
  const parsed = parseJsonText(text);
  if (parsed === undefined) throw new Error(`Not valid JSON: ${text}`);
  return parsed;
}
