/** A number's digits in a delta, in base 64, the first one the most significant (reference 3.1). */
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/** How many digits a number below 2^32 has; 0 has one. */
export function digitCount(value: number): number {
  return Math.max(1, Math.ceil((32 - Math.clz32(value)) / 6));
}

/** Writes a number below 2^32 with its digits. Gives the place behind it. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const end = at + digitCount(value);
  let rest = value;
  for (let place = end - 1; place >= at; place--) {
    bytes[place] = digits.charCodeAt(rest & 63);
    rest >>>= 6;
  }
  return end;
}
