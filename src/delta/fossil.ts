import {
  type DeltaWork,
  type Copy,
  BlockIndex,
  blockBytes,
  hashBlock,
  rollHash,
  commonPrefix,
  commonSuffix,
  wholeCharacters,
} from "./match.ts";

const newLine = 0x0a;
const comma = 0x2c;
const colon = 0x3a;
const semicolon = 0x3b;
const atSign = 0x40;

/** Header, one copy and checksum, each as short as can be. */
const deltaBytesMin = 8;

/**
 * A delta in fossil's format (docs/protocol.md 3.1), from which and from the base SDKs make the target again. Where both are UTF-8,
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
    place = writeOperator(delta, place, copy.length, atSign);
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

/** All of the base is searched for what is new in the target, unless the base is so many times as large. */
const searchedPerNewByte = 256;

/**
 * The search ends after so many steps for each byte of base and target. Even runs of one byte take fewer; only who looks for
 * places whose hashes are equal by calculation gets there, and then the rest isn't searched.
 */
const stepsPerByteMax = 12;

/**
 * What of the target can be copied from the base, in the target's order: each copy makes the delta shorter.
 * Most updates change one small place, so equal beginnings and ends come first, and often nothing else is to be done.
 */
function findCopies(base: Uint8Array, target: Uint8Array, work: DeltaWork): Copy[] {
  const prefixLength = commonPrefix(base, 0, target, 0, target.length);
  const prefix = worthwhile({ offset: 0, start: 0, length: prefixLength }, target);
  const from = prefix === undefined ? 0 : prefix.start + prefix.length;
  // It may overlap the prefix in the base, from which anything can be copied twice.
  const suffixMax = target.length - from;
  const suffixLength = commonSuffix(base, base.length, target, target.length, suffixMax);
  const offset = base.length - suffixLength;
  const suffix = worthwhile(
    { offset, start: target.length - suffixLength, length: suffixLength },
    target,
  );
  work.steps += prefixLength + suffixLength + 2;
  const to = suffix?.start ?? target.length;
  const copies = prefix === undefined ? [] : [prefix];
  if (to - from >= blockBytes) {
    const small = (to - from) * searchedPerNewByte < base.length;
    const index = small
      ? new BlockIndex(base, from, Math.max(from, suffix?.offset ?? base.length), work)
      : new BlockIndex(base, 0, base.length, work);
    const stepsMax = stepsPerByteMax * (base.length + target.length);
    searchCopies(index, target, { from, to }, copies, work, stepsMax);
  }
  if (suffix !== undefined) copies.push(suffix);
  return copies;
}

/** Each byte of the target is either passed once or part of one copy, so the work is in proportion to their number. */
function searchCopies(
  index: BlockIndex,
  target: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  copies: Copy[],
  work: DeltaWork,
  stepsMax: number,
): void {
  let copied = from;
  let at = from;
  let hash = hashBlock(target, at);
  while (at + blockBytes <= to && work.steps < stepsMax) {
    work.steps++;
    const match = index.longestMatch(target, hash, at, copied, to);
    const copy = match === undefined ? undefined : worthwhile(match, target);
    if (copy === undefined) {
      hash = rollHash(hash, target, at);
      at++;
    } else {
      copies.push(copy);
      // It holds all of the block at `at` but for a part of a character, so this goes on.
      copied = copy.start + copy.length;
      at = copied;
      hash = hashBlock(target, at);
    }
  }
}

/** The copy at whole characters; undefined when it takes as much as the bytes themselves and the insert they'd be split off. */
function worthwhile(match: Copy, target: Uint8Array): Copy | undefined {
  const copy = wholeCharacters(match, target);
  const split = digitCount(target.length) + 1;
  const taken = digitCount(copy.length) + 1 + digitCount(copy.offset) + 1 + split;
  return copy.length > taken ? copy : undefined;
}

/** A number's digits in a delta, in base 64, the first one the most significant (docs/protocol.md 3.1). */
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/** How many digits a number below 2^32 has; 0 has one. */
function digitCount(value: number): number {
  return Math.max(1, Math.ceil((32 - Math.clz32(value)) / 6));
}

/** Writes a number below 2^32 with its digits. Gives the place behind it. */
function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const end = at + digitCount(value);
  let rest = value;
  for (let place = end - 1; place >= at; place--) {
    bytes[place] = digits.charCodeAt(rest & 63);
    rest >>>= 6;
  }
  return end;
}
