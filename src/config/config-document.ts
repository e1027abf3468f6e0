import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../protocol/wire-value.ts";

/** The configuration as JSON, or one sentence on why it is none. */
export type ParsedDocument =
  | { readonly outcome: "document"; readonly document: JsonObject }
  | { readonly outcome: "bad"; readonly problem: string };

/**
 * Turns the configuration variable into plain JSON, so that all further reading is typed.
 *
 * An object takes the way through JSON text too: then it can't mean something else than the same object given as text,
 * and it has no getters, cycles or prototypes that could surprise the reader.
 *
 * @param input an object, JSON text of one, or undefined for an empty one
 */
export function parseConfigDocument(input: unknown): ParsedDocument {
  if (input === undefined) return { outcome: "document", document: {} };
  const value = parseJson(input);
  if (value === undefined) {
    // The engine's own message quotes the text, and a secret may stand in it.
    const problem =
      typeof input === "string"
        ? "config is a string that is not valid JSON"
        : "config must be an object or a JSON string of one, found something else";
    return { outcome: "bad", problem };
  }
  if (isJsonObject(value)) return { outcome: "document", document: value };
  const problem = `config must be an object or a JSON string of one, found ${typeName(value)}`;
  return { outcome: "bad", problem };
}

function parseJson(input: unknown): JsonValue | undefined {
  try {
    const text = typeof input === "string" ? input : JSON.stringify(input);
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The type of a value in words, with its article: "a string". Never the value. */
export function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
