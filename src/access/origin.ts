/**
 * Whether a browser on this origin may connect (docs/protocol.md 4.4).
 *
 * @param origin the Origin header; null when there is none, as from everything but a browser, which is always allowed
 * @param patterns globs: `*` stands for any run of characters, everything else for itself; case doesn't matter
 */
export function originAllowed(origin: string | null, patterns: readonly string[]): boolean {
  if (origin === null) return true;
  const text = origin.toLowerCase();
  return patterns.some((pattern) => matches(text, pattern.toLowerCase()));
}

/**
 * Takes each literal piece at its first possible place, which is never worse than a later one: so there is nothing to
 * go back to, and an origin can't be made that takes long.
 */
function matches(text: string, pattern: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === head;
  if (!text.startsWith(head)) return false;
  let position = head.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return text.length - tail.length >= position && text.endsWith(tail);
}
