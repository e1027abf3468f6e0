import { type JsonText, parseJsonText } from "../../src/protocol/json/text.ts";

/** The data of a publication, 128 bytes of JSON as the other scenarios of the bench send it. */
export const payload: JsonText = json(
  `{"text":"${"x".repeat(85)}","user":"alice","at":1700000000000}`,
);

function json(text: string): JsonText {
  const parsed = parseJsonText(text);
  if (parsed === undefined) throw new Error("not JSON");
  return parsed;
}
