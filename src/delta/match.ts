/** How many bytes a match is found by: the block size of fossil itself (docs/protocol.md 3.1). */
export const blockBytes = 16;

/** How many places of the base are compared for one of the target. Hostile data have thousands that look alike. */
const candidatesMax = 8;

const multiplier = 0x9e3779b1;
/** The multiplier to the power of 15, in 32 bits: what the first byte of a block was multiplied by. */
const firstByteFactor = 0x6e8c7251;

/** The work done for a delta: bytes and table entries looked at. For tests, which can't trust a clock. */
export interface DeltaWork {
  steps: number;
}

/** Where the blocks of a part of the base are, by their hash. Takes half a byte to a byte for each byte of it. */
export class BlockIndex {
  readonly #base: Uint8Array;
  readonly #from: number;
  readonly #work: DeltaWork;
  /** By hash, the first block with it, counted from 1; 0 for none. */
  readonly #heads: Int32Array;
  /** By block, the next one with its hash. */
  readonly #next: Int32Array;
  readonly #shift: number;

  /** Takes the part of the base from `from` up to `to`; what is left of it after the last whole block isn't indexed. */
  constructor(base: Uint8Array, from: number, to: number, work: DeltaWork) {
    const blocks = Math.floor((to - from) / blockBytes);
    // At least two entries: a shift by 32 would be one by 0.
    const bits = Math.max(1, 32 - Math.clz32(blocks));
    this.#base = base;
    this.#from = from;
    this.#work = work;
    this.#shift = 32 - bits;
    this.#heads = new Int32Array(2 ** bits);
    this.#next = new Int32Array(blocks + 1);
    // Backwards, so that a search meets the first of equal blocks first: in a long run of them, most follows that one.
    for (let block = blocks; block > 0; block--) {
      const bucket = this.#bucket(hashBlock(base, this.#blockAt(block)));
      this.#next[block] = this.#heads[bucket] ?? 0;
      this.#heads[bucket] = block;
    }
    work.steps += blocks * blockBytes;
  }

  /**
   * The longest match around the block at `at` of the target, whose hash is given, within `from` up to `to` of the target.
   * Comparing takes at most {@link candidatesMax} times as many steps as the match is long.
   *
   * @returns undefined when the base has no such block
   */
  longestMatch(
    target: Uint8Array,
    hash: number,
    at: number,
    from: number,
    to: number,
  ): Copy | undefined {
    let best: Copy | undefined;
    let block = this.#heads[this.#bucket(hash)] ?? 0;
    for (let tries = 0; block > 0 && tries < candidatesMax; tries++) {
      const match = this.#matchAround(target, this.#blockAt(block), at, from, to);
      if (match !== undefined && (best === undefined || match.length > best.length)) best = match;
      block = this.#next[block] ?? 0;
    }
    return best;
  }

  #matchAround(
    target: Uint8Array,
    offset: number,
    at: number,
    from: number,
    to: number,
  ): Copy | undefined {
    const base = this.#base;
    const after = commonPrefix(base, offset, target, at, to - at);
    this.#work.steps += after + 1;
    if (after < blockBytes) return undefined;
    const before = commonSuffix(base, offset, target, at, at - from);
    this.#work.steps += before + 1;
    return { offset: offset - before, start: at - before, length: before + after };
  }

  #blockAt(block: number): number {
    return this.#from + (block - 1) * blockBytes;
  }

  #bucket(hash: number): number {
    return spread(hash) >>> this.#shift;
  }
}

/** A hash whose high bits depend on all of a block; those of a rolled one hardly know the block's last byte. */
export function spread(hash: number): number {
  return Math.imul(hash, multiplier);
}

/** The hash of the block at `at`. */
export function hashBlock(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let place = at; place < at + blockBytes; place++) {
    hash = (Math.imul(hash, multiplier) + (bytes[place] ?? 0)) | 0;
  }
  return hash;
}

/** The hash of the block at `at + 1`, from the one at `at`. */
export function rollHash(hash: number, bytes: Uint8Array, at: number): number {
  const rest = hash - Math.imul(bytes[at] ?? 0, firstByteFactor);
  return (Math.imul(rest, multiplier) + (bytes[at + blockBytes] ?? 0)) | 0;
}

/** Bytes of the target that stand in the base as well. */
export interface Copy {
  /** Where in the base. */
  readonly offset: number;
  /** Where in the target. */
  readonly start: number;
  readonly length: number;
}

/**
 * A copy without the parts of characters at its ends, because a JSON client gets patches as text, in which half a character
 * can't stand (docs/protocol.md 3.1). In UTF-8 a copy of whole characters begins and ends between characters of the base as well, so
 * the target alone is looked at.
 */
export function wholeCharacters(copy: Copy, target: Uint8Array): Copy {
  const start = borderFrom(target, copy.start, 1);
  const end = borderFrom(target, copy.start + copy.length, -1);
  return { offset: copy.offset + start - copy.start, start, length: Math.max(0, end - start) };
}

/** The next place between two characters. A character has at most three more bytes; where there are four, it isn't text. */
function borderFrom(bytes: Uint8Array, place: number, step: 1 | -1): number {
  for (let moved = 0; moved <= 3; moved++) {
    if (!isInsideCharacter(bytes[place + moved * step])) return place + moved * step;
  }
  return place;
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

/** How many bytes are equal from these places on, at most `max`. */
export function commonPrefix(
  a: Uint8Array,
  aFrom: number,
  b: Uint8Array,
  bFrom: number,
  max: number,
): number {
  const most = Math.min(a.length - aFrom, b.length - bFrom, max);
  let length = 0;
  while (length < most && a[aFrom + length] === b[bFrom + length]) length++;
  return length;
}

/** How many bytes are equal before these places, at most `max`. */
export function commonSuffix(
  a: Uint8Array,
  aTo: number,
  b: Uint8Array,
  bTo: number,
  max: number,
): number {
  const most = Math.min(aTo, bTo, max);
  let length = 0;
  while (length < most && a[aTo - length - 1] === b[bTo - length - 1]) length++;
  return length;
}
