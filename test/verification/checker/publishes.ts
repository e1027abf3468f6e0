import type { ChannelRecord } from "./channel-record.ts";
import type {
  HookAnswered,
  PublishAcknowledged,
  PublishInvoked,
  PublishRefused,
  PublishUnknown,
} from "./history-event.ts";
import { place } from "./deliveries/offsets.ts";
import { invoked, type PublicationRecord } from "./publication-record.ts";
import type { CheckContext } from "./subscribe-replies.ts";
import type { SubscriptionRecord } from "./subscription-record.ts";
import { hasReceived } from "./deliveries/unpositioned-deliveries.ts";
import type { Violations } from "./violations.ts";

/** A publish begins. */
export function invoke(
  channel: ChannelRecord,
  { value, time, asks = false }: PublishInvoked,
  number: number,
): boolean {
  if (channel.publications.has(value)) return false;
  const publication = invoked(value, number, time, channel.acknowledged.length, asks);
  channel.publications.set(value, publication);
  return true;
}

/** A backend decides on a publish. It may have another value published in place of the client's. */
export function decide(
  channel: ChannelRecord,
  { type, process, value = "", result = value, time }: HookAnswered,
  violations: Violations,
): void {
  const publication = channel.published(value);
  if (publication === undefined) {
    const text = `${process} was asked about ${value}, which nobody published`;
    violations.add({ kind: "invented", channel: channel.name, process, time, text });
    return;
  }
  if (type === "fail") {
    publication.approval = "refused";
    publication.outcome = "refused";
    return;
  }
  publication.approval = "given";
  if (result === value) return;
  channel.publications.delete(value);
  channel.publications.set(result, publication);
  channel.changed.set(value, result);
  publication.value = result;
}

/** A publish is acknowledged. */
export function acknowledge(
  channel: ChannelRecord,
  { value: asked, time, process, offset, epoch }: PublishAcknowledged,
  { number, promptMicroseconds, violations }: CheckContext,
): void {
  const publication = channel.published(asked);
  if (publication === undefined) {
    const text = `${process} was told that it published ${asked}, which it never tried`;
    violations.add({ kind: "invented", channel: channel.name, process, time, text });
    return;
  }
  const { value, approval } = publication;
  if (approval === "awaited" || approval === "refused") {
    const text = `${process} was told that it published ${value}, which no backend had allowed`;
    violations.add({ kind: "unapproved", channel: channel.name, process, time, text });
  }
  if (publication.outcome !== "acknowledged") {
    publication.outcome = "acknowledged";
    publication.acknowledgedAt = number;
    publication.acknowledgedTime = time;
    channel.acknowledged.push(publication);
  }
  if (offset !== undefined) {
    const found =
      epoch === undefined ? undefined : channel.streamOf(epoch, time, promptMicroseconds);
    if (found?.replaced !== undefined) {
      const { replaced } = found;
      const text = `${value} was published at ${epoch}:${offset}, in place of ${replaced.epoch}:${replaced.top}`;
      violations.add({ kind: "forgotten", channel: channel.name, process, time, text });
    }
    const stream = found?.stream ?? channel.stream;
    if (stream !== undefined) {
      place({ channel, stream, offset, value, process, time }, violations);
    }
  }
  const subscription = channel.subscriptions.get(process);
  if (subscription === undefined) {
    const isDue = offset === undefined && channel.recovery !== "none";
    if (isDue && !channel.unplaced.has(publication)) {
      channel.unplaced.set(publication, { process, time });
    }
    return;
  }
  if (!subscription.isAttached) return;
  if (subscription.since > publication.invokedAt) return;
  judgeLate(channel, subscription, publication, time, violations);
}

/** A publisher that is subscribed to the channel receives its publication before the publish reply (rule O4). */
function judgeLate(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  publication: PublicationRecord,
  time: number,
  violations: Violations,
): void {
  const { process, stream, position, gaps } = subscription;
  const { value, offset } = publication;
  const text = `${process} was told that it published ${value} before it received it`;
  const violation = { kind: "late", channel: channel.name, process, time, text } as const;
  if (stream === undefined) {
    if (!hasReceived(subscription, publication)) channel.doubts.push({ publication, violation });
    return;
  }
  const isPassed = publication.stream === stream && offset <= position;
  const isInGap = gaps.some(({ from, to }) => from <= offset && offset <= to);
  if (!isPassed || isInGap) violations.add(violation);
}

/** A publish is refused for certain: no subscriber can have received its publication. */
export function refuse(
  channel: ChannelRecord,
  { value, time }: PublishRefused,
  violations: Violations,
): void {
  const publication = channel.published(value);
  if (publication === undefined || publication.outcome === "acknowledged") return;
  publication.outcome = "refused";
  const { receivedBy } = publication;
  if (receivedBy === undefined) return;
  const text = `${receivedBy} received ${value}, which was refused after that`;
  const process = receivedBy;
  violations.add({ kind: "resurrected", channel: channel.name, process, time, text });
}

/** The outcome of a publish stays unknown. */
export function leaveOpen(channel: ChannelRecord, { value }: PublishUnknown): void {
  const publication = channel.published(value);
  if (publication?.outcome === "open") publication.outcome = "unknown";
}
