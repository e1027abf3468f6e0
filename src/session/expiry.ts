/**
 * The `ttl` of a reply: whole seconds until a credential expires. It is 0 only for a credential that never expires, as
 * clients read 0, and at least 1 otherwise. It is at most the largest uint32, its type on the wire.
 */
export function ttlSeconds(expireAtSeconds: number, nowMs: number): number {
  if (expireAtSeconds === 0) return 0;
  return Math.min(Math.max(1, Math.floor(expireAtSeconds - nowMs / 1000)), 2 ** 32 - 1);
}

/** When a credential has been expired for `delayMs`, ms since 1970; Infinity if it never expires. */
export function endMs(expireAtSeconds: number | undefined, delayMs: number): number {
  if (expireAtSeconds === undefined || expireAtSeconds === 0) return Number.POSITIVE_INFINITY;
  return expireAtSeconds * 1000 + delayMs;
}

/** Whether a credential has expired. One with 0 never does. */
export function hasEnded(expireAtSeconds: number, nowMs: number): boolean {
  return expireAtSeconds !== 0 && expireAtSeconds * 1000 <= nowMs;
}
