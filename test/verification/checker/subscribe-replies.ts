import type { ChannelRecord } from "./channel-record.ts";
import { checkOverdue } from "./overdue.ts";
import type { Subscribed } from "./history-event.ts";
import { loseGaps } from "./deliveries/positioned-deliveries.ts";
import type { StreamRecord } from "./stream-record.ts";
import type { SubscriptionRecord } from "./subscription-record.ts";
import { loseMissing } from "./deliveries/unpositioned-deliveries.ts";
import type { ViolationKind } from "./check-result.ts";
import type { Violations } from "./violations.ts";

/** What the check of a subscribe reply needs besides the reply. */
export interface CheckContext {
  /** The number of the event. */
  readonly number: number;
  /** How late an effect may become visible, µs. */
  readonly promptMicroseconds: number;
  /** How long a known publication may stay undelivered to a subscriber, µs. */
  readonly overdueMicroseconds: number;
  readonly violations: Violations;
}

/** A subscribe was answered. */
export function begin(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  reply: Subscribed,
  context: CheckContext,
): void {
  const { time, client, epoch, offset } = reply;
  if (subscription.isAttached) {
    checkOverdue(channel, subscription, time, context.overdueMicroseconds, context.violations);
    end(channel, subscription, time, context.violations);
  }
  // The client subscribed after its last subscription ended, and no answer takes longer than this (rule B4).
  const asked = Math.max(
    subscription.detachedTime ?? -Infinity,
    time - 2 * context.promptMicroseconds,
  );
  if (epoch === undefined || offset === undefined) {
    checkUnpositioned(channel, subscription, reply, context.violations);
  } else checkPosition(channel, subscription, { ...reply, epoch, offset, asked }, context);
  subscription.isAttached = true;
  subscription.hasLeft = false;
  subscription.client = client;
  subscription.since = context.number;
  subscription.received = 0;
  subscription.lastTime = time;
  subscription.sinceTime = time;
  subscription.detachedTime = undefined;
  subscription.frontier = channel.acknowledged.length;
}

/** From here on the subscriber counts as one that received the publication at that position last. */
function stand(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  { epoch, offset }: NonNullable<Subscribed["since"]>,
): void {
  subscription.stream = channel.streams.get(epoch);
  subscription.position = offset;
  // What was removed since then may be missing.
  subscription.lastTime = subscription.stream?.knownTime ?? 0;
}

/** A subscription is over. Its position stays. */
export function end(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  time: number,
  violations: Violations,
): void {
  if (!subscription.isAttached) return;
  loseGaps(channel, subscription, time, violations);
  loseMissing(channel, subscription, time);
  subscription.isAttached = false;
  subscription.detachedTime = time;
}

/** A reply without a position. On a channel with positions, the checks use what the subscriber had before. */
function checkUnpositioned(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  { process, time }: Subscribed,
  violations: Violations,
): void {
  subscription.beginAnew();
  if (channel.recovery === "none") {
    subscription.stream = undefined;
    return;
  }
  const { stream, position } = subscription;
  subscription.removedUpTo = 0;
  subscription.mayJump = false;
  const was = stream === undefined ? "" : `, and had been at ${stream.epoch}:${position}`;
  const text = `${process} was subscribed without a position${was}`;
  violations.add({ kind: "unpositioned", channel: channel.name, process, time, text });
}

/** A reply with a position, and the earliest time at which the client can have sent its subscribe. */
interface PositionedReply extends Subscribed {
  readonly epoch: string;
  readonly offset: number;
  readonly asked: number;
}

function checkPosition(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  reply: PositionedReply,
  context: CheckContext,
): void {
  const { epoch, offset, recovered, time, process, asked, since } = reply;
  const { number, promptMicroseconds, violations } = context;
  const { stream, replaced } = channel.streamOf(epoch, time, promptMicroseconds);
  if (since !== undefined) stand(channel, subscription, since);
  const complain = (kind: ViolationKind, what: string): void => {
    const text = `${process} was subscribed at ${epoch}:${offset}, ${what}`;
    violations.add({ kind, channel: channel.name, process, time, text });
  };
  // A gateway may lag by so much when it answers.
  const surelyKnown = asked - promptMicroseconds;
  const newest = channel.stream ?? stream;
  const isReplaced = newest !== stream && newest.knownTime < surelyKnown;
  if (replaced !== undefined) {
    complain("forgotten", `in place of ${replaced.epoch}:${replaced.top}`);
  } else if (isReplaced) {
    complain("forgotten", `long after ${newest.epoch} had replaced it`);
  }
  const known = stream.topBefore(surelyKnown);
  stream.claim({ offset, number, process });
  subscription.removedUpTo = 0;
  subscription.mayJump = false;
  if (recovered) {
    recover(channel, subscription, reply, { stream, known, surelyKnown }, complain);
  } else {
    judgeFresh(channel, subscription, reply, { stream, known, promptMicroseconds }, complain);
    subscription.position = offset;
  }
  subscription.stream = stream;
}

type Complain = (kind: ViolationKind, what: string) => void;

/** The subscription continues at its position. */
function recover(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  { offset, recovering }: PositionedReply,
  {
    stream,
    known,
    surelyKnown,
  }: { readonly stream: StreamRecord; readonly known: number; readonly surelyKnown: number },
  complain: Complain,
): void {
  const { stream: before, position } = subscription;
  const isCache = channel.recovery === "cache";
  const was = before === undefined ? "" : `${before.epoch}:${position}`;
  subscription.position = offset;
  if (before === undefined) {
    // With automatic cache recovery, a client that doesn't ask to recover gets the newest publication.
    if (!isCache || recovering) complain("hole", "recovered without an earlier position");
  } else if (before !== stream) {
    // The newest publication can be recovered from any epoch; it states its own offset.
    if (isCache) subscription.position = 0;
    else complain("forgotten", `recovered, and had been at ${was}`);
  } else if (offset > position) {
    complain("hole", `recovered, and had been at ${was}`);
    if (!isCache) subscription.gaps.push({ from: position + 1, to: offset, place: "first" });
  } else if (offset < position) {
    complain("forgotten", `recovered, and had been at ${was}`);
  }
  if (isCache) {
    subscription.mayJump = true;
    subscription.jumpFloor = Math.max(subscription.position + 1, known);
  }
  for (const removal of channel.removals) {
    if (removal.stream !== stream || removal.time > surelyKnown) continue;
    subscription.removedUpTo = Math.max(subscription.removedUpTo, removal.upTo);
  }
}

/**
 * The subscription begins at the top, which must not be before a known offset. A recovery must not fail without a
 * reason.
 */
function judgeFresh(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  { recovering, offset }: PositionedReply,
  {
    stream,
    known,
    promptMicroseconds,
  }: { readonly stream: StreamRecord; readonly known: number; readonly promptMicroseconds: number },
  complain: Complain,
): void {
  const { stream: before, position, lastTime } = subscription;
  // A client that kept its position asked to recover, even if the reply doesn't say so.
  const isSame = (recovering || channel.recovery !== "none") && before === stream;
  if (isSame && offset < position) {
    complain("forgotten", `and had received ${position}`);
  } else if (offset < known) {
    complain("forgotten", `though ${known} was known long before`);
  }
  const { recoverable } = channel;
  if (!isSame || recoverable === undefined || offset < position) return;
  // Before the first publication there is no newest one to recover.
  if (channel.recovery === "cache" && offset === 0) return;
  const missed = offset - position;
  const mayBeGone = channel.forgottenTime >= lastTime - promptMicroseconds;
  if (missed > recoverable || mayBeGone) return;
  complain("needless", `not recovered from ${position}: ${missed} missed of ${recoverable} kept`);
}
