import type { ChannelRecord } from "./channel-record.ts";
import { reportLoss, loseGaps } from "./deliveries/positioned-deliveries.ts";
import type { StreamRecord } from "./stream-record.ts";
import type { SubscriptionRecord } from "./subscription-record.ts";
import { loseMissing, miss } from "./deliveries/unpositioned-deliveries.ts";
import type { Violations } from "./violations.ts";

/** Checks that a subscriber received every publication. Called when everything has settled. */
export function checkEnd(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  time: number,
  violations: Violations,
): void {
  if (!subscription.isAttached) return;
  const { process, stream, position } = subscription;
  const place = subscription.received === 0 ? "first" : "last";
  if (stream === undefined) {
    miss(channel, subscription, channel.acknowledged.length, place);
    loseMissing(channel, subscription, time);
    return;
  }
  loseGaps(channel, subscription, time, violations);
  const newest = channel.stream ?? stream;
  const from = newest === stream ? position + 1 : 1;
  if (from <= newest.top) {
    reportLoss(channel, process, { stream: newest, from, to: newest.top, place, time }, violations);
  }
}

/** Checks that each subscriber that didn't leave for good is subscribed again. Called when everything has settled. */
export function checkAbsence(
  channel: ChannelRecord,
  { isAttached, hasLeft, detachedTime, process }: SubscriptionRecord,
  time: number,
  violations: Violations,
): void {
  if (isAttached || hasLeft || detachedTime === undefined) return;
  const text = `${process} ceased to be subscribed at ${detachedTime} and didn't come back`;
  violations.add({ kind: "absent", channel: channel.name, process, time, text });
}

/**
 * A publisher that isn't a client gets the positions of its publications. A publication without a known position has
 * one all the same.
 *
 * @param clients all processes that ever subscribed or gave up a subscription
 */
export function checkUnplaced(
  channel: ChannelRecord,
  clients: ReadonlySet<string>,
  isSettled: boolean,
  endTime: number,
  violations: Violations,
): void {
  for (const [publication, { process, time }] of channel.unplaced) {
    if (clients.has(process)) continue;
    const { value, receivedBy, stream } = publication;
    const about = { channel: channel.name, process };
    const text = `${process} was told that it published ${value}, and not where`;
    violations.add({ ...about, kind: "unpositioned", time, text });
    // Publications with a known position are checked against each subscriber elsewhere.
    const mustBeReceived = isSettled && channel.subscriptions.size > 0;
    if (!mustBeReceived || receivedBy !== undefined || stream !== undefined) continue;
    const loss = `nobody ever received ${value}, which ${process} was told that it published`;
    violations.add({ ...about, kind: "lost", time: endTime, text: loss, place: "last" });
  }
}

/** The checks that need the whole history of a channel: its order, and the losses that crashes excuse. */
export function checkChannel(
  channel: ChannelRecord,
  time: number,
  promptMicroseconds: number,
  violations: Violations,
): void {
  for (const { publication, violation } of channel.doubts) {
    if (!channel.excuses(publication, promptMicroseconds)) violations.add(violation);
  }
  for (const { from, edge } of channel.order.contradictions()) {
    const text = `${edge.process} received ${from.value} before ${edge.to.value}, and others received them in the other order`;
    const { process } = edge;
    violations.add({ kind: "swapped", channel: channel.name, process, time, text });
  }
  for (const stream of channel.streams.values()) {
    judgeStreamOrder(channel, stream, time, violations);
  }
}

/** A publication that was acknowledged before another publish began has the lower offset. */
function judgeStreamOrder(
  channel: ChannelRecord,
  { byOffset, epoch }: StreamRecord,
  time: number,
  violations: Violations,
): void {
  const offsets = [...byOffset.keys()].sort((one, other) => one - other);
  let latestInvoked = -1;
  let latestOffset = 0;
  for (const offset of offsets) {
    const publication = byOffset.get(offset);
    // A publication with two positions was reported already.
    if (publication?.offset !== offset) continue;
    if (publication.acknowledgedAt < latestInvoked) {
      const earlier = byOffset.get(latestOffset);
      const text = `${publication.value} is at ${epoch}:${offset}, after ${earlier?.value} at ${latestOffset}, which was published only after its acknowledgement`;
      const process = publication.placedBy;
      violations.add({ kind: "swapped", channel: channel.name, process, time, text });
    }
    if (publication.invokedAt > latestInvoked) {
      latestInvoked = publication.invokedAt;
      latestOffset = offset;
    }
  }
}
