import { Random } from "../../support/random.ts";

/**
 * A generator for one consumer, such as one socket. Its numbers depend on the seed and the name alone, so that a
 * consumer more or less doesn't change the numbers of the others.
 *
 * @param seed the plan's seed
 * @param name the kind, the owner and the number of the consumer
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
