import { type Extent, elementExtents, findValue } from "./scan.ts";

/**
 * JSON text that is valid and stands on one line, kept as the sender wrote it: number digits, key order and escapes
 * are the sender's (rule W2). Only the json-text module makes one.
 */
export type JsonText = string & { readonly __brand: "JsonText" };

/**
 * Checks a text and takes it over byte for byte, but for the whitespace around it and its raw line breaks.
 *
 * @returns undefined when the text is not valid JSON
 */
export function parseJsonText(text: string): JsonText | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Around a valid value stands only JSON's own whitespace, so `trim` can't take more than that.
  return onOneLine(text.trim());
}

/**
 * The text of one value inside a JSON object, as its sender wrote it. Like JSON.parse, the last of equal keys counts,
 * and a key matches whatever escapes spell it.
 *
 * @param json text already known to be valid JSON; on any other the answer has no meaning
 * @param path the member's name, from the root object inwards
 * @returns undefined when a member is missing or something on the way is not an object
 */
export function memberText(json: string, ...path: string[]): JsonText | undefined {
  const extent = findValue(json, path);
  return extent === undefined ? undefined : extentText(json, extent);
}

/**
 * The texts of an array's elements, in order, as their sender wrote them; see {@link memberText} for the arguments.
 *
 * @returns undefined when there is no such value or it is not an array
 */
export function elementTexts(json: string, ...path: string[]): JsonText[] | undefined {
  const array = findValue(json, path);
  if (array === undefined || json[array.start] !== "[") return undefined;
  return elementExtents(json, array.start).map((extent) => extentText(json, extent));
}

/** Takes a text for JSON that this program itself put together from JSON; line breaks between tokens go. */
export function trustedJsonText(valid: string): JsonText {
  return onOneLine(valid);
}

function extentText(json: string, { start, end }: Extent): JsonText {
  return onOneLine(json.slice(start, end));
}

/**
 * Frames are divided by line breaks (docs/protocol.md 1.1). In valid JSON a raw one stands only between tokens, where it
 * means nothing and beside a character that divides the tokens as well, so it can go.
 */
function onOneLine(valid: string): JsonText {
  return isOneLine(valid) ? valid : onOneLine(valid.replaceAll(/[\r\n]/g, ""));
}

function isOneLine(valid: string): valid is JsonText {
  return !valid.includes("\n") && !valid.includes("\r");
}
