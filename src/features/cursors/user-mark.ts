import type { Coverage } from "./coverage.ts";

/** A channel keeps this of each user: how far the user has got and read (rules CU). */
export interface UserMark {
  readonly user: string;
  /** The epoch that the offsets are of. */
  readonly epoch: string;
  /** Everything up to this offset is read; undefined if the user has marked nothing. */
  readonly read: number | undefined;
  /** When the user marked that, in ms since 1970; undefined if the user has marked nothing. */
  readonly readMs: number | undefined;
  /** The top when the channel first had something to keep of the user. */
  readonly start: number;
  /** The history was lost, or began anew, after the user had marked something (rule CU5). */
  readonly isReset: boolean;
  /** What is known to have arrived; undefined for nothing (rule CU10). */
  readonly covered: Coverage | undefined;
}

/**
 * The mark as it counts in the channel's epoch: offsets of an epoch that is gone say nothing (rule CU5). Only the beginning
 * is the same in each epoch, also for a user who marked it before the first publication.
 *
 * @param epoch of the channel's stream; undefined without a stream
 */
export function inEpoch(mark: UserMark, epoch: string | undefined): UserMark {
  if (mark.epoch === epoch) return mark;
  const { user, read, readMs } = mark;
  const isReset = mark.isReset || (read ?? 0) > 0;
  const kept = read === 0 ? { read, readMs } : { read: undefined, readMs: undefined };
  return { user, epoch: epoch ?? "", ...kept, start: 0, isReset, covered: undefined };
}
