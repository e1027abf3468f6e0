import type { ChannelRecord } from "./channel-record.ts";
import { lose, loseGaps } from "./positioned-deliveries.ts";
import type { StreamRecord } from "./stream-record.ts";
import type { SubscriptionRecord } from "./subscription-record.ts";
import { loseMissing, miss } from "./unpositioned-deliveries.ts";
import type { Violations } from "./violations.ts";

/** After all has settled, a subscriber must have heard everything that there is. */
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
    lose(channel, process, { stream: newest, from, to: newest.top, place, time }, violations);
  }
}

/** After all has settled, everybody who didn't leave for good must be back. */
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
 * Whoever publishes and is no client is told where its publications stand. What it wasn't told of stands somewhere all the
 * same.
 *
 * @param clients everybody who ever subscribed, or ceased to want to
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
    // What is known to stand somewhere, whoever subscribes is judged by.
    const mustBeReceived = isSettled && channel.subscriptions.size > 0;
    if (!mustBeReceived || receivedBy !== undefined || stream !== undefined) continue;
    const loss = `nobody ever heard ${value}, which ${process} was told that it published`;
    violations.add({ ...about, kind: "lost", time: endTime, text: loss, place: "last" });
  }
}

/** What only the whole history tells about a channel: its order, and what crashes excuse. */
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
    const text = `${edge.process} heard ${from.value} before ${edge.to.value}, and others heard them the other way round`;
    const { process } = edge;
    violations.add({ kind: "swapped", channel: channel.name, process, time, text });
  }
  for (const stream of channel.streams.values()) {
    judgeStreamOrder(channel, stream, time, violations);
  }
}

/** What was acknowledged before another publish began stands before it. */
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
    // A publication that stands at two places was spoken of already.
    if (publication?.offset !== offset) continue;
    if (publication.acknowledgedAt < latestInvoked) {
      const earlier = byOffset.get(latestOffset);
      const text = `${publication.value} stands at ${epoch}:${offset}, after ${earlier?.value} at ${latestOffset}, which was published only after its acknowledgement`;
      const process = publication.placedBy;
      violations.add({ kind: "swapped", channel: channel.name, process, time, text });
    }
    if (publication.invokedAt > latestInvoked) {
      latestInvoked = publication.invokedAt;
      latestOffset = offset;
    }
  }
}
