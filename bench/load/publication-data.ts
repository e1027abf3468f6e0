import { marker } from "../systems/wire.ts";

/**
 * A publication's data: JSON of exactly so many bytes. The number follows the marker directly, so that it is found
 * however a system wraps or escapes the data.
 *
 * @param index from 0 to 8,999,999
 * @param bytes at least {@link smallestDataBytes}; throws a RangeError for less
 */
export function publicationData(index: number, bytes: number): string {
  if (bytes < smallestDataBytes)
    throw new RangeError(`a publication's data takes ${smallestDataBytes} bytes at least`);
  return `{"text":"${marker}${numberOf(index)}${"x".repeat(bytes - smallestDataBytes)}"}`;
}

/** The digits for an index; their number is always the same. */
export function numberOf(index: number): string {
  if (index > 8_999_999) throw new RangeError("there are no numbers for so many publications");
  return String(firstNumber + index);
}

/** The indexes of all publications in a frame; NaN for a publication that isn't ours. */
export function publicationIndexes(payload: Buffer): number[] {
  const indexes: number[] = [];
  for (
    let found = payload.indexOf(marker);
    found !== -1;
    found = payload.indexOf(marker, found + 1)
  ) {
    const digits = payload.toString("latin1", found + 1, found + 1 + numberLength);
    indexes.push(/^\d{7}$/.test(digits) ? Number(digits) - firstNumber : Number.NaN);
  }
  return indexes;
}

/** `{"text":"^1000000"}` */
export const smallestDataBytes = 19;

const firstNumber = 1_000_000;
const numberLength = 7;
