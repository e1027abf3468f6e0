import { Random } from "../../test/support/random.ts";

/**
 * The chances of one who needs some, such as one socket: what they are depends on the seed and the name alone, so that one
 * more or less who needs some changes nothing for the others.
 *
 * @param seed the plan's
 * @param name what it is, whose, and which of those
 */
export function namedRandom(seed: number, name: string): Random {
  let hash = Math.imul(seed, prime) ^ offsetBasis;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), prime);
  }
  return new Random(hash);
}

/** FNV-1a's. */
const prime = 0x01_00_01_93;
const offsetBasis = 0x81_1c_9d_c5;
