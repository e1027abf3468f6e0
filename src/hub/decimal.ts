/** A decimal number of any length, exactly as it was written: its sign, and its digits without zeros that say nothing. */
export interface Decimal {
  /** 0 for zero, however it was written. */
  readonly sign: -1 | 0 | 1;
  /** What stands before the point, without leading zeros. */
  readonly whole: string;
  /** What stands after it, without trailing zeros. */
  readonly fraction: string;
}

/**
 * Reads digits with or without a sign, and with or without a point that has digits on both sides, as Centrifugo does: no
 * exponent, no spaces, no other script's digits. Undefined for everything else.
 */
export function parseDecimal(text: string): Decimal | undefined {
  if (!written.test(text)) return undefined;
  const signed = text.startsWith("-") || text.startsWith("+");
  const point = text.indexOf(".");
  const whole = withoutLeadingZeros(text.slice(signed ? 1 : 0, point === -1 ? undefined : point));
  const fraction = point === -1 ? "" : withoutTrailingZeros(text.slice(point + 1));
  if (whole === "" && fraction === "") return { sign: 0, whole, fraction };
  return { sign: text.startsWith("-") ? -1 : 1, whole, fraction };
}

/** Below 0 when the first is the smaller one, above 0 when it is the larger one, 0 when they are the same number. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  if (one.sign !== other.sign) return one.sign - other.sign;
  return one.sign < 0 ? compareMagnitudes(other, one) : compareMagnitudes(one, other);
}

/** Of whole numbers without leading zeros the longer is larger; digits in the same places compare as text does. */
function compareMagnitudes(one: Decimal, other: Decimal): number {
  if (one.whole.length !== other.whole.length) return one.whole.length - other.whole.length;
  if (one.whole !== other.whole) return one.whole < other.whole ? -1 : 1;
  if (one.fraction === other.fraction) return 0;
  return one.fraction < other.fraction ? -1 : 1;
}

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start++;
  return digits.slice(start);
}

/** Not by a regular expression: `0+$` looks at the same zeros again and again. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

const written = /^[-+]?[0-9]+(?:\.[0-9]+)?$/;
