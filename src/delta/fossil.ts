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

/**
 * Makes a delta in Fossil's format (docs/protocol.md 3.1). SDKs produce the target from the base and the delta (rule
 * D1). If base and target are UTF-8, the delta is UTF-8 too. Time and memory are proportional to both lengths, for any
 * bytes.
 *
 * @param base   at most 2^32 - 1 bytes
 * @param target at most 2^32 - 1 bytes
 * @param work   counts the work
 * @returns undefined if the delta isn't shorter than the target
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
  // The size is without the digits of the checksum, of which there is at least one.
  if (size + 1 >= target.length) return undefined;
  const sum = checksum(target);
  const length = size + digitCount(sum);
  return length < target.length ? written(copies, target, sum, length) : undefined;
}

/** The size of a delta in bytes, without the digits of its checksum. */
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

/**
 * The sum of the target's big-endian 32-bit words; bytes missing from the last word are 0. An SDK disconnects if the
 * sum differs from its own.
 */
function checksum(bytes: Uint8Array): number {
  return columnsSum(columnsOf(bytes));
}

/** The sums of the bytes at the places 4n, 4n + 1, 4n + 2 and 4n + 3, from which a checksum is made. */
export type Columns = readonly [number, number, number, number];

/** The columns of some bytes: those of bytes after others are added to their columns from another place on. */
export function columnsOf(bytes: Uint8Array): Columns {
  // A column of 2^30 bytes adds up to less than 2^53, so the sums are exact.
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
  return columns;
}

/** The checksum of bytes with these columns. */
export function columnsSum(columns: Columns): number {
  return ((columns[0] << 24) + (columns[1] << 16) + (columns[2] << 8) + columns[3]) >>> 0;
}

/** The columns of bytes with those of others after them. @param length of the bytes that come first */
export function columnsAfter(first: Columns, length: number, then: Columns): Columns {
  const sums: [number, number, number, number] = [...first];
  for (const column of [0, 1, 2, 3] as const) {
    const at = (column - (length % 4) + 4) % 4;
    sums[column] += then[at] ?? 0;
  }
  return sums;
}

/**
 * The parts of the target that are copied from the base, in the order of the target: each copy makes the delta shorter.
 * Most updates change one small place. Therefore equal beginnings and ends are looked for first, and often that is all.
 */
function findCopies(base: Uint8Array, target: Uint8Array, work: DeltaWork): Copy[] {
  const prefixLength = commonPrefix(base, 0, target, 0, target.length);
  const prefix = worthwhile({ offset: 0, start: 0, length: prefixLength }, target);
  const from = prefix === undefined ? 0 : prefix.start + prefix.length;
  // In the base the suffix may overlap the prefix, because any part of the base can be copied twice.
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

/**
 * Adds the copies between two places of the target. Each byte is either passed once or part of one copy, so the work is
 * proportional to the number of bytes.
 */
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
      // The copy has the whole block at `at`, except for a part of a character, so `at` advances.
      copied = copy.start + copy.length;
      at = copied;
      hash = hashBlock(target, at);
    }
  }
}

/**
 * The copy without parts of characters at its ends; undefined if it takes no fewer bytes than inserting its bytes
 * would. A copy may split an insert in two, so the header of one more insert counts as part of the copy.
 */
function worthwhile(match: Copy, target: Uint8Array): Copy | undefined {
  const copy = wholeCharacters(match, target);
  const split = digitCount(target.length) + 1;
  const taken = digitCount(copy.length) + 1 + digitCount(copy.offset) + 1 + split;
  return copy.length > taken ? copy : undefined;
}

/** The number of digits of a number below 2^32; 0 has one. */
function digitCount(value: number): number {
  return Math.max(1, Math.ceil((32 - Math.clz32(value)) / 6));
}

/** A number below 2^32 as it stands in a delta. */
export function numberText(value: number): string {
  const bytes = new Uint8Array(digitCount(value));
  writeNumber(bytes, 0, value);
  return String.fromCharCode(...bytes);
}

/** Writes the digits of a number below 2^32, and returns the place after them. */
function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const end = at + digitCount(value);
  let rest = value;
  for (let place = end - 1; place >= at; place--) {
    bytes[place] = digits.charCodeAt(rest & 63);
    rest >>>= 6;
  }
  return end;
}

/** The digits of numbers in a delta, in base 64, the most significant one first (docs/protocol.md 3.1). */
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/** The size of the shortest delta: header, one copy and checksum. */
const deltaBytesMin = 8;

/**
 * The whole base is searched for new bytes of the target, unless the base is more than this many times as long as they.
 */
const searchedPerNewByte = 256;

/**
 * The steps of the search for each byte of base and target, after which the rest isn't searched. Even runs of one byte
 * take fewer steps; only an attacker who calculates places with equal hashes gets there.
 */
const stepsPerByteMax = 12;

const newLine = 0x0a;
const comma = 0x2c;
const colon = 0x3a;
const semicolon = 0x3b;
const atSign = 0x40;
