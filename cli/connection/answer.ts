/** Reads the fields of the API's answers. A field that is absent, or isn't what it should be, is empty. */
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { paintOf, type Shell } from "../shell.ts";

/** The objects in a list. */
export function objectsOf(answer: JsonObject, key: string): readonly JsonObject[] {
  const value = answer[key] ?? [];
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** An object in an object. */
export function objectOf(answer: JsonObject, key: string): JsonObject {
  const value = answer[key];
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** A number, such as a time in ms. */
export function numberOf(answer: JsonObject, key: string): number | undefined {
  const value = answer[key];
  return typeof value === "number" ? value : undefined;
}

/** Warns of an answer from which something may be missing. */
export function warnIncomplete({ incomplete }: JsonObject, shell: Shell): void {
  if (incomplete === true)
    shell.note(paintOf(shell).caution("incomplete: an object didn't answer in time"));
}
