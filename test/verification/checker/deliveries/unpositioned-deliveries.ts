import type { ChannelRecord } from "../channel-record.ts";
import type { Delivered } from "../history-event.ts";
import { markReceived } from "./mark-received.ts";
import type { PublicationRecord } from "../publication-record.ts";
import type { SubscriptionRecord } from "../subscription-record.ts";
import type { LossPlace, ViolationKind } from "../check-result.ts";
import type { Violations } from "../violations.ts";

/** A subscriber of a channel without offsets receives a publication. */
export function takeUnpositioned(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  { value, time, process }: Delivered,
  promptMicroseconds: number,
  violations: Violations,
): void {
  const complain = (kind: ViolationKind, what: string): void => {
    const text = `${process} received ${value}${what}`;
    violations.add({ kind, channel: channel.name, process, time, text });
  };
  const publication = channel.publications.get(value);
  if (publication === undefined) {
    complain("invented", ", which nobody published here");
    return;
  }
  markReceived(channel, publication, process, time, violations);
  if (!subscription.ranks.add(channel.order.rank(publication))) {
    complain("doubled", " twice");
    return;
  }
  if (publication.acknowledgedTime < subscription.sinceTime - promptMicroseconds) {
    complain("resurrected", ", which was acknowledged long before it was subscribed");
    return;
  }
  const { latestInvoked, lastReceived } = subscription;
  if (latestInvoked !== undefined && publication.acknowledgedAt < latestInvoked.invokedAt) {
    complain("swapped", ` after ${latestInvoked.value}, before whose publish it was acknowledged`);
    subscription.missing.delete(publication);
  } else if (lastReceived !== undefined) {
    channel.order.link(lastReceived, publication, process);
  }
  subscription.lastReceived = publication;
  if (latestInvoked === undefined || publication.invokedAt > latestInvoked.invokedAt) {
    subscription.latestInvoked = publication;
  }
  if (subscription.frontier < publication.after) {
    miss(
      channel,
      subscription,
      publication.after,
      subscription.received === 0 ? "first" : "middle",
    );
  }
  subscription.received++;
  subscription.lastTime = time;
}

/**
 * Notes the publications that a subscription should have received: those that were published after it began and
 * acknowledged before the publish of a publication that it receives now.
 *
 * @param until so many of the channel's acknowledged publishes are considered
 */
export function miss(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  until: number,
  place: LossPlace,
): void {
  for (; subscription.frontier < until; subscription.frontier++) {
    const publication = channel.acknowledged[subscription.frontier];
    if (publication === undefined || publication.invokedAt < subscription.since) continue;
    if (!hasReceived(subscription, publication)) subscription.missing.set(publication, place);
  }
}

/** When a subscription ends, its missing publications are lost, unless a crash excuses the loss. */
export function loseMissing(
  channel: ChannelRecord,
  { missing, process }: SubscriptionRecord,
  time: number,
): void {
  if (missing.size === 0) return;
  for (const [publication, place] of missing) {
    const text = `${process} never received ${publication.value}`;
    const violation = { kind: "lost", channel: channel.name, process, time, text, place } as const;
    channel.doubts.push({ publication, violation });
  }
  missing.clear();
}

/** Whether this subscription received the publication, on a channel without offsets. */
export function hasReceived({ ranks }: SubscriptionRecord, { rank }: PublicationRecord): boolean {
  return rank >= 0 && ranks.has(rank);
}
