import type { ChannelRecord } from "../channel-record.ts";
import type { Violations } from "../violations.ts";
import type { CursorChannel } from "./cursor-channel.ts";

/**
 * Checks what users were told to be unread, once the positions of all publications are known: those after the mark that the
 * answer names, and up to the top that it names, but for the user's own (rule CU4).
 */
export function checkCounts(
  channel: CursorChannel,
  record: ChannelRecord,
  violations: Violations,
): void {
  const { unreadMax } = channel.opened;
  for (const { answer, isSettled } of channel.counts) {
    const { user, read, offset, epoch, unread, capped = false, process, time } = answer;
    const complain = (what: string): void => {
      const text = `${user} is said to have ${unread} unread after ${read} of ${offset}, ${what}`;
      violations.add({ kind: "miscounted", channel: channel.name, process, time, text });
    };
    const top = record.streams.get(epoch)?.top ?? 0;
    if (isSettled && offset !== top) complain(`and the newest is ${top}`);
    const count = countOthers(channel, record, { user, epoch, after: read, to: offset });
    if (count === undefined) continue;
    if (unread !== Math.min(count, unreadMax) || capped !== count > unreadMax)
      complain(`and ${count} of others are there`);
  }
}

/** The publications of others than a user in a stretch; undefined if the history doesn't know them all. */
export function countOthers(
  channel: CursorChannel,
  record: ChannelRecord,
  stretch: {
    readonly user: string;
    readonly epoch: string;
    readonly after: number;
    readonly to: number;
  },
): number | undefined {
  const stream = record.streams.get(stretch.epoch);
  // What isn't kept any more counts, whoever published it (rule CU6).
  if (stream === undefined || stream.top > (record.recoverable ?? 0)) return undefined;
  let count = 0;
  for (let offset = stretch.after + 1; offset <= stretch.to; offset++) {
    const publication = stream.byOffset.get(offset);
    if (publication === undefined) return undefined;
    if (channel.publishers.get(publication.value) !== stretch.user) count++;
  }
  return count;
}
