/**
 * A value of a key, so long that a delta is shorter. Each has a part that only the value before and the next one have, so
 * that a delta doesn't give its value when it is applied to any other.
 */
export function longValue(value: number): string {
  return JSON.stringify({ value, before: word(value - 1), now: word(value), text: "x".repeat(60) });
}

const word = (number: number): string => `${number}`.repeat(30);
