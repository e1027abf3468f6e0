/**
 * The texts that producers append. Each text of a key has a number, with which it begins, so that whoever sees a part of it
 * knows which one it is. The lengths at which pieces of two texts of a key begin differ, so that a late piece of one never fits
 * the other.
 */

/** All pieces are a multiple of this long, in UTF-16 units. */
export const pieceUnits = 16;

/** The beginning of a text: the first piece has at least this. */
export function beginningOf(key: string, number: number): string {
  const named = `${key}#${number};`;
  const missing = (number - named.length) % pieceUnits;
  return named + ".".repeat((missing + pieceUnits) % pieceUnits);
}

/** The first so many UTF-16 units of a text. */
export function textUpTo(key: string, number: number, length: number): string {
  const name = `${key}#${number}`;
  let text = texts.get(name) ?? beginningOf(key, number);
  const beginning = beginningOf(key, number).length;
  for (let block = (text.length - beginning) / pieceUnits; text.length < length; block++)
    text += `[${String(block).padStart(4, "0")}]${fillings[block % fillings.length]}`;
  texts.set(name, text);
  return text.slice(0, length);
}

/** Which text of its key it is a part of; undefined if it is of none. */
export function numberOf(key: string, text: string): number | undefined {
  const [name, number] = /^(\w+)#(\d+);/.exec(text)?.slice(1) ?? [];
  return name === key ? Number(number) : undefined;
}

/** Whether a piece of a text may begin at this length. */
export function mayBeginAt(number: number, length: number): boolean {
  return length % pieceUnits === number % pieceUnits;
}

/** The same in all worlds. */
const texts = new Map<string, string>();

/** What is between the numbers of the blocks: characters of one to four bytes, and those that JSON escapes. */
const fillings = [
  "plain text",
  "é ü ß ñ ø ",
  '"a" \\b\\ \n\t',
  "🌍🌎🌏🌍🌎",
  "</b>\u0001\u007f\u2028abc",
];
