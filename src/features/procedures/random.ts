/**
 * Random numbers of one call, from a text that the platform gives: the same text gives the same numbers, so that a simulation
 * can repeat a call.
 *
 * @param seed long enough that it can't be guessed
 * @returns gives the next number, from 0 to below 1
 */
export function randomNumbers(seed: string): () => number {
  let [a, b, c, d] = hashed(seed);
  // sfc32, a small generator that passes the usual test suites.
  const next = (): number => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round++) next();
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}

/** Four hashes of a text, of 32 bits each. */
function hashed(text: string): [number, number, number, number] {
  const hash = (start: number, factor: number): number => {
    let value = start;
    for (let index = 0; index < text.length; index++)
      value = Math.imul(value ^ text.charCodeAt(index), factor);
    return value ^ (value >>> 15);
  };
  return [
    hash(0x811c9dc5, 0x01000193),
    hash(0x9e3779b9, 0x85ebca6b),
    hash(0x7f4a7c15, 0xc2b2ae35),
    hash(0x94d049bb, 0x27d4eb2f),
  ];
}
