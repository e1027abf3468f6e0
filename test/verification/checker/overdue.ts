import type { ChannelRecord } from "./channel-record.ts";
import type { SubscriptionRecord } from "./subscription-record.ts";
import { miss } from "./deliveries/unpositioned-deliveries.ts";
import type { Violations } from "./violations.ts";

/**
 * Checks a subscription that ends before everything has settled, and so need not have received everything. A
 * publication that was known for so long during the whole subscription is lost. Called before the subscription's record
 * ends.
 *
 * @param overdueMicroseconds how long a publication may be known and not delivered; infinite where nothing is promised
 */
export function checkOverdue(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  time: number,
  overdueMicroseconds: number,
  violations: Violations,
): void {
  const due = time - overdueMicroseconds;
  if (!subscription.isAttached || subscription.sinceTime >= due) return;
  const { process, stream, position } = subscription;
  const place = subscription.received === 0 ? "first" : "last";
  if (stream === undefined) {
    miss(channel, subscription, acknowledgedBefore(channel, due), place);
    return;
  }
  const newest = channel.stream ?? stream;
  const meant = newest.knownTime < due ? newest : stream;
  const from = meant === stream ? position + 1 : 1;
  const to = meant.topBefore(due);
  if (from > to) return;
  const seconds = Math.floor((time - subscription.sinceTime) / 1_000_000);
  const value = meant.byOffset.get(from)?.value ?? "an unknown publication";
  const text = `${process} was subscribed for ${seconds} s and never received ${meant.epoch}:${from} to ${to}, the first of which is ${value}`;
  violations.add({ kind: "lost", channel: channel.name, process, time, text, place });
  violations.addUnlisted(place, to - from);
}

/** How many publishes of a channel were acknowledged before a time. */
function acknowledgedBefore({ acknowledged }: ChannelRecord, time: number): number {
  let low = 0;
  let high = acknowledged.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((acknowledged[middle]?.acknowledgedTime ?? Infinity) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
