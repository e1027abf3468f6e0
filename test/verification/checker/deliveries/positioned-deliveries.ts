import type { ChannelRecord } from "../channel-record.ts";
import type { Delivered } from "../history-event.ts";
import { markReceived } from "./mark-received.ts";
import { place } from "./offsets.ts";
import type { StreamRecord } from "../stream-record.ts";
import type { SubscriptionRecord } from "../subscription-record.ts";
import type { LossPlace, ViolationKind } from "../check-result.ts";
import type { Violations } from "../violations.ts";

/** A subscriber that knows its position receives a publication, which must be the next one (rule O3). */
export function takePositioned(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  stream: StreamRecord,
  delivered: Delivered,
  violations: Violations,
): void {
  const { offset, value, time, process } = delivered;
  if (offset === undefined) {
    const stands = `${stream.epoch}:${subscription.position}`;
    const text = `${process} received ${value} without an offset after ${stands}`;
    violations.add({ kind: "hole", channel: channel.name, process, time, text });
    return;
  }
  if (offset === subscription.position + 1) subscription.position = offset;
  else move(channel, subscription, stream, { offset, value, time }, violations);
  subscription.mayJump = false;
  subscription.received++;
  subscription.lastTime = time;
  const there = stream.byOffset.get(offset);
  const publication =
    there !== undefined && there.value === value
      ? there
      : place({ channel, stream, offset, value, process, time }, violations);
  if (publication === undefined) return;
  markReceived(channel, publication, process, time, violations);
  if (offset <= subscription.removedUpTo) {
    const text = `${process} recovered ${value} at ${stream.epoch}:${offset}, which was removed before it asked`;
    violations.add({ kind: "resurrected", channel: channel.name, process, time, text });
  }
}

/** The delivered publication isn't the next one. */
function move(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  stream: StreamRecord,
  {
    offset,
    value,
    time,
  }: { readonly offset: number; readonly value: string; readonly time: number },
  violations: Violations,
): void {
  const { process, position } = subscription;
  const complain = (kind: ViolationKind, what = ""): void => {
    const text = `${process} received ${value} at ${stream.epoch}:${offset} after ${position}${what}`;
    violations.add({ kind, channel: channel.name, process, time, text });
  };
  if (offset > position) {
    subscription.position = offset;
    if (mayJumpTo(channel, subscription, offset, value)) return;
    complain("hole");
    const lossPlace = subscription.received === 0 ? "first" : "middle";
    subscription.gaps.push({ from: position + 1, to: offset - 1, place: lossPlace });
  } else if (fill(subscription, offset)) {
    complain("swapped", ", late");
  } else {
    complain("doubled");
  }
}

/** With cache recovery the newest publication may come first; it was published before the reply. */
function mayJumpTo(
  channel: ChannelRecord,
  { mayJump, jumpFloor, since }: SubscriptionRecord,
  offset: number,
  value: string,
): boolean {
  if (!mayJump || offset < jumpFloor) return false;
  const publication = channel.publications.get(value);
  return publication !== undefined && publication.invokedAt < since;
}

/** A late delivery isn't a loss. */
function fill({ gaps }: SubscriptionRecord, offset: number): boolean {
  const index = gaps.findIndex(({ from, to }) => from <= offset && offset <= to);
  const gap = gaps[index];
  if (gap === undefined) return false;
  const parts = [
    { ...gap, to: offset - 1 },
    { ...gap, from: offset + 1 },
  ];
  gaps.splice(index, 1, ...parts.filter(({ from, to }) => from <= to));
  return true;
}

/** When a subscription ends, the publications that it skipped are lost. */
export function loseGaps(
  channel: ChannelRecord,
  subscription: SubscriptionRecord,
  time: number,
  violations: Violations,
): void {
  const { gaps, stream } = subscription;
  if (gaps.length === 0 || stream === undefined) return;
  for (const { from, to, place: lossPlace } of gaps) {
    reportLoss(
      channel,
      subscription.process,
      { stream, from, to, place: lossPlace, time },
      violations,
    );
  }
  gaps.length = 0;
}

/** Publications that one subscriber never received, both offsets included. */
interface Loss {
  readonly stream: StreamRecord;
  readonly from: number;
  readonly to: number;
  readonly place: LossPlace;
  readonly time: number;
}

/** Reports losses, the first few of them with their values. */
export function reportLoss(
  channel: ChannelRecord,
  process: string,
  { stream, from, to, place: lossPlace, time }: Loss,
  violations: Violations,
): void {
  const reportedTo = Math.min(to, from + reportedMax - 1);
  for (let offset = from; offset <= reportedTo; offset++) {
    const value = stream.byOffset.get(offset)?.value ?? "an unknown publication";
    const of = from === to ? "" : `, of ${from} to ${to}`;
    const text = `${process} never received ${value} at ${stream.epoch}:${offset}${of}`;
    violations.add({ kind: "lost", channel: channel.name, process, time, text, place: lossPlace });
  }
  violations.addUnlisted(lossPlace, to - reportedTo);
}

/** So many losses of one gap are reported one by one. */
const reportedMax = 3;
