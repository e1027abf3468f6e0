/**
 * Whether a browser page of this origin may connect (rule A6, docs/protocol.md 4.4).
 *
 * @param origin the Origin header; null if there is none, as from every client but a browser: such a client is always
 * allowed
 * @param patterns globs: `*` matches any run of characters, and any other character matches itself; case doesn't matter
 */
export function originAllowed(origin: string | null, patterns: readonly string[]): boolean {
  if (origin === null) return true;
  const text = origin.toLowerCase();
  return patterns.some((pattern) => matches(text, pattern.toLowerCase()));
}

/**
 * Matches each literal piece at its first possible position, which is never worse than a later one. So there is no
 * backtracking, and an attacker can't make an origin that takes long.
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
