import type { Random } from "../../../support/random.ts";

/**
 * A text of numbered words, so that nothing of it is in it twice: what is missing, doubled or swapped shows, wherever it is
 * cut. It has characters that JSON escapes, and such of two to four bytes.
 *
 * @param words how many
 */
export function growingText(name: string, words: number): string {
  const texts = Array.from({ length: words }, (_, index) => {
    return `${index + 1}${endings[index % endings.length] ?? ""} `;
  });
  return `${name}: ${texts.join("")}`;
}

/** The next piece of a text, of some characters, none of which it cuts in half. */
export function pieceOf(text: string, at: number, random: Random): string {
  const piece = text.slice(at, at + random.between(1, pieceMax));
  return piece.isWellFormed() ? piece : text.slice(at, at + piece.length + 1);
}

const endings = ["a", "é", '"', "\\", "\n", "\u{1F600}", "漢", ",", "\u0001", "ß."];
const pieceMax = 30;
