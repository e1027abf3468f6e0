import type { DeltaWork } from "./match.ts";
import { findCopies } from "./copies.ts";
import type { Copy } from "./copy.ts";
import { digitCount, writeNumber } from "./digits.ts";

const newLine = 0x0a;
const comma = 0x2c;
const colon = 0x3a;
const semicolon = 0x3b;
const at = 0x40;

/** Header, one copy and checksum, each as short as can be. */
const deltaBytesMin = 8;

/**
 * A delta in fossil's format (reference 3.1), from which and from the base SDKs make the target again. Where both are UTF-8,
 * so is the delta. Time and memory are in proportion to both, whatever is in them.
 *
 * @param base at most 2^32 - 1 bytes, as the target
 * @param work where the work done is counted
 * @returns undefined when the delta isn't shorter than the target
 */
export function createDelta(
  base: Uint8Array,
  target: Uint8Array,
  work: DeltaWork = { steps: 0 },
): Uint8Array | undefined {
  if (target.length <= deltaBytesMin) return undefined;
  const copies = findCopies(base, target, work);
  if (copies.length === 0) return undefined;
  const size = sizeOf(copies, target.length);
  // Without the digits of the checksum, of which there is at least one.
  if (size + 1 >= target.length) return undefined;
  const sum = checksum(target);
  const length = size + digitCount(sum);
  return length < target.length ? written(copies, target, sum, length) : undefined;
}

/** How many bytes a delta takes, but for the digits of its checksum. */
function sizeOf(copies: readonly Copy[], targetLength: number): number {
  let size = digitCount(targetLength) + 2;
  let done = 0;
  for (const { offset, start, length } of copies) {
    size += insertSize(start - done) + digitCount(length) + digitCount(offset) + 2;
    done = start + length;
  }
  return size + insertSize(targetLength - done);
}

function insertSize(length: number): number {
  return length === 0 ? 0 : digitCount(length) + 1 + length;
}

function written(copies: readonly Copy[], target: Uint8Array, sum: number, length: number) {
  const delta = new Uint8Array(length);
  let place = writeOperator(delta, 0, target.length, newLine);
  let done = 0;
  for (const copy of copies) {
    place = writeInsert(delta, place, target.subarray(done, copy.start));
    place = writeOperator(delta, place, copy.length, at);
    place = writeOperator(delta, place, copy.offset, comma);
    done = copy.start + copy.length;
  }
  place = writeInsert(delta, place, target.subarray(done));
  writeOperator(delta, place, sum, semicolon);
  return delta;
}

function writeInsert(delta: Uint8Array, place: number, bytes: Uint8Array): number {
  if (bytes.length === 0) return place;
  const start = writeOperator(delta, place, bytes.length, colon);
  delta.set(bytes, start);
  return start + bytes.length;
}

function writeOperator(delta: Uint8Array, place: number, value: number, operator: number): number {
  const end = writeNumber(delta, place, value);
  delta[end] = operator;
  return end + 1;
}

/** The sum of the target's big-endian 32-bit words; what is missing of the last one is 0. SDKs disconnect where it differs. */
function checksum(bytes: Uint8Array): number {
  // A column of 2^32 bytes adds up to less than 2^53, so nothing is lost before the end.
  const columns: [number, number, number, number] = [0, 0, 0, 0];
  const whole = bytes.length - (bytes.length % 4);
  for (let place = 0; place < whole; place += 4) {
    columns[0] += bytes[place] ?? 0;
    columns[1] += bytes[place + 1] ?? 0;
    columns[2] += bytes[place + 2] ?? 0;
    columns[3] += bytes[place + 3] ?? 0;
  }
  columns[0] += bytes[whole] ?? 0;
  columns[1] += bytes[whole + 1] ?? 0;
  columns[2] += bytes[whole + 2] ?? 0;
  return ((columns[0] << 24) + (columns[1] << 16) + (columns[2] << 8) + columns[3]) >>> 0;
}
