import type { JsonValue } from "../../src/protocol/wire-value.ts";

/**
 * A reviver of JSON.parse that keeps numbers as they came which JavaScript would print otherwise, such as 1.50 and
 * 9007199254740993 (rule N12). Node.js before 21 and browsers from before 2025 round them.
 */
export function asItCame(_name: string, value: JsonValue, context?: Source): JsonValue {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  return JSON.rawJSON?.(source) ?? value;
}

interface Source {
  /** The text of a number, a string or a word. */
  readonly source?: string;
}

declare global {
  interface JSON {
    /** Gives what JSON.stringify writes as this text. */
    readonly rawJSON?: (text: string) => { readonly rawJSON: string };
  }
}
