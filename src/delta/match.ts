/** The bytes of a block, the shortest match that is found: Fossil's own block size (docs/protocol.md 3.1). */
export const blockBytes = 16;

/** An index of the blocks of a part of the base, by hash. It takes half a byte to a byte for each byte of that part. */
export class BlockIndex {
  readonly #base: Uint8Array;
  readonly #from: number;
  readonly #work: DeltaWork;
  /** By bucket of the hash, the first block in it, counted from 1; 0 for none. */
  readonly #heads: Int32Array;
  /** By block, the next block in its bucket; 0 for none. */
  readonly #next: Int32Array;
  readonly #shift: number;

  /** Indexes the base from `from` up to `to`, except for the bytes after the last whole block. */
  constructor(base: Uint8Array, from: number, to: number, work: DeltaWork) {
    const blocks = Math.floor((to - from) / blockBytes);
    // At least two buckets, because in JavaScript a shift by 32 is a shift by 0.
    const bits = Math.max(1, 32 - Math.clz32(blocks));
    this.#base = base;
    this.#from = from;
    this.#work = work;
    this.#shift = 32 - bits;
    this.#heads = new Int32Array(2 ** bits);
    this.#next = new Int32Array(blocks + 1);
    // Backwards, so that a search meets the first of equal blocks first: in a long run of equal blocks, the longest
    // match begins there.
    for (let block = blocks; block > 0; block--) {
      const bucket = this.#bucket(hashBlock(base, this.#blockAt(block)));
      this.#next[block] = this.#heads[bucket] ?? 0;
      this.#heads[bucket] = block;
    }
    work.steps += blocks * blockBytes;
  }

  /**
   * The longest match around a block of the target. The search takes at most {@link candidatesMax} steps for each byte
   * of the match.
   *
   * @param hash the hash of the block
   * @param at   the place of the block
   * @param from where the match may begin at the earliest
   * @param to   where the match ends at the latest
   * @returns undefined if the base has no such block
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

/** The work for a delta: bytes and table entries that were read. Tests read it, because a clock isn't reliable. */
export interface DeltaWork {
  steps: number;
}

/** Mixes a rolled hash, whose high bits hardly depend on the block's last byte, so that they depend on all bytes. */
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

/** The hash of the block at `at + 1`, from that of the block at `at`. */
export function rollHash(hash: number, bytes: Uint8Array, at: number): number {
  const rest = hash - Math.imul(bytes[at] ?? 0, firstByteFactor);
  return (Math.imul(rest, multiplier) + (bytes[at + blockBytes] ?? 0)) | 0;
}

/**
 * The most places of the base that are compared with one place of the target. An attacker's data may have thousands of
 * equal hashes.
 */
const candidatesMax = 8;

const multiplier = 0x9e3779b1;
/** The multiplier to the power of 15, modulo 2^32: the factor of a block's first byte in its hash. */
const firstByteFactor = 0x6e8c7251;

/** A part of the target that is in the base as well. */
export interface Copy {
  /** The place in the base. */
  readonly offset: number;
  /** The place in the target. */
  readonly start: number;
  readonly length: number;
}

/**
 * A copy without the parts of characters at its ends, because JSON clients get deltas as text, which can't hold a part
 * of a character (docs/protocol.md 3.1). In UTF-8 a copy of whole characters begins and ends between characters of the
 * base as well, so only the target is checked.
 */
export function wholeCharacters(copy: Copy, target: Uint8Array): Copy {
  const start = borderFrom(target, copy.start, 1);
  const end = borderFrom(target, copy.start + copy.length, -1);
  return { offset: copy.offset + start - copy.start, start, length: Math.max(0, end - start) };
}

/**
 * The next place between two characters. A character has at most three bytes after its first; if there are four, the
 * bytes aren't text, and the place stays.
 */
function borderFrom(bytes: Uint8Array, place: number, step: 1 | -1): number {
  for (let moved = 0; moved <= 3; moved++) {
    if (!isInsideCharacter(bytes[place + moved * step])) return place + moved * step;
  }
  return place;
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

/** The number of equal bytes from these places on, at most `max`. */
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

/** The number of equal bytes before these places, at most `max`. */
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
