/**
 * Whether a text matches a glob: `*` matches any run of characters, and any other character matches itself. Each literal
 * piece is matched at its first possible position, which is never worse than a later one. So there is no backtracking,
 * and an attacker can't make a text that takes long.
 */
export function matchesGlob(text: string, glob: string): boolean {
  const [head = "", ...rest] = glob.split("*");
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
