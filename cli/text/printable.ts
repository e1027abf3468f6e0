import type { JsonValue } from "../../src/protocol/wire-value.ts";

/**
 * Writes control characters as JSON does (`\u001b`), so that no text of a client or of a server controls the terminal.
 * JSON stays JSON with the same meaning.
 */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return String.raw`\u${code}`;
  });
}

/**
 * The same for a whole output, whose line breaks and colours stay: for texts that a command prints without looking, such
 * as its own arguments.
 */
export function printableOutput(text: string): string {
  return text
    .split(kept)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join("");
}

/** Line breaks and colours, which begin with the character Escape. */
const kept = new RegExp(String.raw`(${String.fromCharCode(27)}\[[\d;]*m|[\n\t])`);

/** A value of JSON as a person reads it: a text as it is, nothing for an absent value, and anything else as JSON. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}
