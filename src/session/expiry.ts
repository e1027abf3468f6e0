/**
 * Whole seconds until then, at least 1: clients read 0 as never, which is what it means for an end of 0. On the wire it
 * is a uint32, whatever far future a token names.
 */
export function ttlSeconds(expireAtSeconds: number, nowMs: number): number {
  if (expireAtSeconds === 0) return 0;
  return Math.min(Math.max(1, Math.floor(expireAtSeconds - nowMs / 1000)), 2 ** 32 - 1);
}

/** When a credential's end has passed for so long, ms since 1970; Infinity for never. */
export function endMs(expireAtSeconds: number | undefined, delayMs: number): number {
  if (expireAtSeconds === undefined || expireAtSeconds === 0) return Number.POSITIVE_INFINITY;
  return expireAtSeconds * 1000 + delayMs;
}

/** Whether a credential's end has passed; 0 is never. */
export function hasEnded(expireAtSeconds: number, nowMs: number): boolean {
  return expireAtSeconds !== 0 && expireAtSeconds * 1000 <= nowMs;
}
