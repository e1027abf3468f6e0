/**
 * Replaces the text between the two marks of this name, and keeps everything else.
 *
 * @throws if a mark is missing, or occurs more than once
 */
export function withSection(document: string, name: string, text: string): string {
  const begin = `<!-- ${name} -->`;
  const end = `<!-- end of ${name} -->`;
  const before = document.split(begin);
  const after = document.split(end);
  const [head] = before;
  const [, tail] = after;
  const isOnce = before.length === 2 && after.length === 2;
  const isOrdered = document.indexOf(begin) < document.indexOf(end);
  if (head === undefined || tail === undefined || !isOnce || !isOrdered) {
    throw new Error(`The document must hold "${begin}" and "${end}" once each, in this order`);
  }
  return `${head}${begin}\n\n${text.trim()}\n\n${end}${tail}`;
}
