/**
 * What the Worker's own code gives where JSON is wanted: a description of who connects, and the answers of functions (rule
 * OW11). JavaScript may give anything, and `JSON.stringify` throws for some of it and leaves other parts out.
 */
import { type Invalid, invalid } from "../../../src/features/hooks/response.ts";

/** Writes it as JSON, unless a part of it can't be written; the reason names the part. An absent member may be undefined. */
export function parseGiven(
  given: unknown,
): { readonly outcome: "text"; readonly text: string } | Invalid {
  try {
    const fault = given === undefined ? "it is undefined" : parsePart(given, "", []);
    return fault === undefined
      ? { outcome: "text", text: JSON.stringify(given) }
      : invalid(`${fault}, which JSON can't say`);
  } catch {
    return invalid("it can't be read"); // A getter or a toJSON threw, or it is too deep.
  }
}

/** Why a part can't be written; undefined if it can. */
function parsePart(part: unknown, path: string, within: readonly object[]): string | undefined {
  const name = path === "" ? "it" : `"${path}"`;
  switch (typeof part) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(part) ? undefined : `${name} is ${part}`;
    case "bigint":
    case "symbol":
    case "function":
      return `${name} is a ${typeof part}`;
    case "object":
      break;
  }
  if (part === null) return undefined;
  if (within.includes(part)) return `${name} is part of itself`;
  // Such as a Date inside, which says itself how it is written.
  if (within.length > 0 && "toJSON" in part) return undefined;
  if (!Array.isArray(part) && !isPlain(part))
    return `${name} is an instance of ${part.constructor.name}`;
  for (const [key, value] of Object.entries(part)) {
    const fault = parsePart(value, path === "" ? key : `${path}.${key}`, [...within, part]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Whether an object is none of a class. */
function isPlain(part: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(part);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
