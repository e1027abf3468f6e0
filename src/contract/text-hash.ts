/**
 * Makes a hash of a text (FNV-1a), from 0 to 2^32 - 1. Names of objects and stored digests depend on it, so two
 * releases have to agree on the function, and it must never change.
 *
 * @param start the hash of what comes before the text; absent for nothing
 */
export function hashOf(text: string, start = 0x81_1c_9d_c5): number {
  let hash = start;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}
