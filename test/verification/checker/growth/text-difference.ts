import type { ViolationKind } from "../check-result.ts";

/** How a text that somebody has differs from the one that was sent. */
export interface TextDifference {
  readonly kind: ViolationKind;
  /** The end of a sentence about the text. */
  readonly what: string;
}

/**
 * Compares a text with what had been sent of it, of which it has to be a beginning.
 *
 * @returns undefined if it is one
 */
export function textDifference(text: string, sent: string): TextDifference | undefined {
  if (sent.startsWith(text)) return undefined;
  let at = 0;
  while (at < text.length && text[at] === sent[at]) at++;
  const rest = text.slice(at);
  const known = longestKnown(rest, sent);
  const where = `after ${at} characters with ${quoted(rest)}`;
  if (known === "") return { kind: "invented", what: `goes on ${where}, which wasn't sent` };
  const next = sent.indexOf(known, at);
  if (next < 0) return { kind: "doubled", what: `goes on ${where}, which it has before` };
  const missing = sent.slice(at, next);
  const isLater = rest.includes(missing, known.length);
  const follows = `goes on ${where}, before which ${quoted(missing)} was sent`;
  return { kind: isLater ? "swapped" : "lost", what: follows };
}

/** The longest beginning of a text that another one has somewhere; "" if that is so short that it means nothing. */
function longestKnown(text: string, other: string): string {
  let length = 0;
  while (length < text.length && other.includes(text.slice(0, length + 1))) length++;
  return length >= Math.min(text.length, meaningfulLength) ? text.slice(0, length) : "";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > shownMax ? `${text.slice(0, shownMax)}…` : text);
}

const meaningfulLength = 3;
const shownMax = 40;
