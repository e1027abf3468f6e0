/** The keys of maps and of shared polls in requests (docs/protocol.md 3.4 and 3.5). */
import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import { type Refused, refusedRequest } from "./command.ts";

/** Refuses a key that nothing can have, with error 107; undefined if it can be one. */
export function refusedKey(key: string): Refused | undefined {
  return key === "" ? refusedRequest("key is required") : refusedKeyText(key);
}

/** Refuses a key as {@link refusedKey} does, except for an empty one, which stands for none. */
export function refusedKeyText(key: string): Refused | undefined {
  if (!utf8Fits(key, limits.mapKeyBytesMax))
    return refusedRequest(`key exceeds ${limits.mapKeyBytesMax} bytes`);
  // A lone surrogate is replaced when it is stored, which would make one key of two.
  return key.isWellFormed() ? undefined : refusedRequest("key is not well-formed Unicode");
}
