import type { Rate } from "../config/config.ts";
import { limits } from "../limits.ts";
import { TokenBucket } from "./token-bucket.ts";

/**
 * How often a connection may have something large read for nothing (rule B16): an answer that is refused because of its
 * size costs as much as one that is sent, and doesn't add to the backlog, which bounds the others (rule F4). Undefined
 * until the first, which few connections have. What was read is noted as one of these wherever it is refused.
 */
export type VainReads = TokenBucket | undefined;

/** Whether what a command asks for may be read; otherwise the command is answered 111. */
export function mayRead({ vainReads }: Reader, nowMs: number): boolean {
  return vainReads?.hasOne(nowMs) !== false;
}

/** Notes that something was read for a connection, and not sent to it. */
export function readInVain(reader: Reader, nowMs: number): void {
  (reader.vainReads ??= new TokenBucket(vainReadRate)).takeIfLeft(nowMs);
}

/** A connection for which something is read. */
interface Reader {
  vainReads: VainReads;
}

const vainReadRate: Rate = { burst: limits.vainReadsBurst, perSecond: limits.vainReadsPerSecond };
