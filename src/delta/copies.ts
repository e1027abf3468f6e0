import { BlockIndex, blockBytes, type DeltaWork, hashBlock, rollHash } from "./match.ts";
import { commonPrefix, commonSuffix } from "./common-bytes.ts";
import { type Copy, wholeCharacters } from "./copy.ts";
import { digitCount } from "./digits.ts";

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
export function findCopies(base: Uint8Array, target: Uint8Array, work: DeltaWork): Copy[] {
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
