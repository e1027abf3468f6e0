import { isJsonObject, type JsonObject, jsonValue } from "../wire-value.ts";
import { type Extent, elementExtents, findValue } from "./scan.ts";

/**
 * JSON text that is valid and on one line, with the digits of numbers, the order of keys and the escapes of its sender
 * (rule W2). Only this file makes one.
 */
export type JsonText = string & { readonly __brand: "JsonText" };

/**
 * Checks a text and returns it unchanged, but without the whitespace around it and without its raw line breaks.
 *
 * @returns undefined if the text isn't valid JSON
 */
export function parseJsonText(text: string): JsonText | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Around a valid value there is only JSON's whitespace, so `trim` removes nothing else.
  return onOneLine(text.trim());
}

/** A JSON object, and its text, from which members are cut that have to stay as their sender wrote them. */
export interface JsonObjectText {
  readonly text: JsonText;
  readonly fields: JsonObject;
}

/** Parses a text that must be a JSON object; undefined for everything else. */
export function parseJsonObject(given: string): JsonObjectText | undefined {
  const text = parseJsonText(given);
  const fields = text === undefined ? null : jsonValue(text);
  return text !== undefined && isJsonObject(fields) ? { text, fields } : undefined;
}

/**
 * The text of one value in a JSON object, as its sender wrote it. As in JSON.parse, the last of equal keys counts, and
 * the escapes in a key make no difference.
 *
 * @param json text that is known to be valid JSON; for any other text the result has no meaning
 * @param path the names of the members that lead to the value, from the root object inwards
 * @returns undefined if a member is missing, or if one on the way isn't an object
 */
export function memberText(json: string, ...path: string[]): JsonText | undefined {
  const extent = findValue(json, path);
  return extent === undefined ? undefined : extentText(json, extent);
}

/**
 * The texts of an array's elements, in their order, as their sender wrote them; see {@link memberText} for the
 * parameters.
 *
 * @returns undefined if there is no such value or it isn't an array
 */
export function elementTexts(json: string, ...path: string[]): JsonText[] | undefined {
  const array = findValue(json, path);
  if (array === undefined || json[array.start] !== "[") return undefined;
  return elementExtents(json, array.start).map((extent) => extentText(json, extent));
}

/** Brands a text that this program put together from valid JSON, without the line breaks between its tokens. */
export function trustedJsonText(valid: string): JsonText {
  return onOneLine(valid);
}

/**
 * Brands a text that a sender has grown by text of this program, none of which has a line break. Nothing is looked at, so
 * that a long text costs no more than a short one.
 */
export function grownJsonText(before: string, text: string, after: string): JsonText {
  const grown = `${before}${text}${after}`;
  return isGrown(grown) ? grown : trustedJsonText(grown);
}

/** Only for the compiler: {@link isOneLine} would read the whole text. */
function isGrown(text: string): text is JsonText {
  return text !== "";
}

function extentText(json: string, { start, end }: Extent): JsonText {
  return onOneLine(json.slice(start, end));
}

/**
 * Removes line breaks, because they divide frames (docs/protocol.md 1.1). Valid JSON has raw ones only between tokens,
 * next to a character that divides the tokens as well, so the value stays the same.
 */
function onOneLine(valid: string): JsonText {
  return isOneLine(valid) ? valid : onOneLine(valid.replaceAll(/[\r\n]/g, ""));
}

function isOneLine(valid: string): valid is JsonText {
  return !valid.includes("\n") && !valid.includes("\r");
}
