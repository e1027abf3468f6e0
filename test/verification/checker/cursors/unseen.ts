import type { ViolationKind } from "../check-result.ts";
import type { ChannelRecord } from "../channel-record.ts";
import type { EventTaken } from "../history-event.ts";
import type { PublicationRecord } from "../publication-record.ts";
import type { Violations } from "../violations.ts";
import { countOthers } from "./counts.ts";
import type { CursorChannel } from "./cursor-channel.ts";
import type { UserCursor } from "./user-cursor.ts";

/** A channel at the end of a history. */
export interface CursorEnd {
  readonly channel: CursorChannel;
  readonly record: ChannelRecord;
  /** Whether a backend may not have been told of everything. */
  readonly mayMiss: boolean;
  readonly time: number;
}

/**
 * Checks what a backend was told of members who haven't seen something (rules CU23 to CU26), when everything is known: each
 * event against what the member was known to have seen, and each publication that a member didn't see against the events.
 */
export function checkUnseen(end: CursorEnd, violations: Violations): void {
  const { channel, record, mayMiss, time } = end;
  for (const cursor of channel.users) {
    for (const event of cursor.unseen) {
      const problem = problemOf(event, cursor, channel, record);
      if (problem === undefined) continue;
      const { process, time: toldTime, from, to } = event;
      const text = `${cursor.user} was said not to have seen ${from} to ${to}, ${problem}`;
      violations.add({ kind: "mistold", channel: channel.name, process, time: toldTime, text });
    }
    if (mayMiss) continue;
    const { outstanding, marked, user } = cursor;
    if (outstanding === undefined || marked.offset < outstanding.to) continue;
    const text = `${user} has marked ${marked.offset}, and was never told to have seen ${outstanding.from} to ${outstanding.to}`;
    violations.add({ kind: "untold", channel: channel.name, process: "", time, text });
  }
  if (mayMiss || record.stream === undefined) return;
  const { epoch, byOffset } = record.stream;
  const complain = (kind: ViolationKind, text: string): void =>
    violations.add({ kind, channel: channel.name, process: "", time, text });
  for (const [user, since] of channel.members) {
    const cursor = channel.user(user, epoch);
    for (const publication of byOffset.values()) {
      if (publication.invokedTime <= since || publication.stream?.epoch !== epoch) continue;
      if (channel.publishers.get(publication.value) === user) continue;
      if (isSeenInTime(publication, cursor, channel) || cursor.isTold(publication.offset)) continue;
      complain("untold", `nobody was told that ${user} hasn't seen ${publication.offset}`);
    }
  }
}

/** Why an event shouldn't have been told; undefined if it should. */
function problemOf(
  { at, time, from = 0, to = 0, count }: EventTaken,
  cursor: UserCursor,
  channel: CursorChannel,
  record: ChannelRecord,
): string | undefined {
  const { user, epoch, marked, delivered, arrivals } = cursor;
  const { name, opened, publishers, mayBeMembers } = channel;
  const byOffset = record.streams.get(epoch)?.byOffset;
  // When it was judged: the server's clock may have been set ahead.
  const judged = Math.min(at ?? time, time);
  if (!mayBeMembers.has(user)) return `and is no member of ${name}`;
  const newest = byOffset?.get(to);
  const notifyAfter = opened.notifyAfterMs * 1_000;
  if (newest !== undefined && judged < newest.invokedTime + notifyAfter - clockMicroseconds)
    return `${Math.round((judged - newest.invokedTime) / 1_000)} ms after ${to} was published`;
  for (const end of [from, to])
    if (publishers.get(byOffset?.get(end)?.value ?? "") === user) return `and has published ${end}`;
  const others = countOthers(channel, record, { user, epoch, after: from - 1, to });
  if (others !== undefined && count !== others) return `${count} of them, and ${others} are there`;
  const known = judged - clockMicroseconds;
  const read = marked.before(known);
  if (from <= read) return `and had marked ${read}`;
  const proof = delivered.findLast((answer) => answer.time < known);
  const { since = 0, offset = 0 } = proof ?? {};
  // A proof that claims nothing ends where it begins.
  if (since < offset && from <= offset && to > since)
    return `and was said to have got ${since} to ${offset}`;
  for (let one = from; one <= to; one++)
    if (arrivals.wasProven(one, judged, clockMicroseconds))
      return `and had received ${one} and answered two pings since`;
  return undefined;
}

/** Whether a user has got or read a publication before a backend must have been told that the user hasn't. */
function isSeenInTime(
  { offset, acknowledgedTime }: PublicationRecord,
  { arrivals, asked }: UserCursor,
  { opened }: CursorChannel,
): boolean {
  const seenTime = Math.min(arrivals.firstTime(offset), asked.timeOf(offset));
  if (seenTime === Infinity) return false;
  return seenTime <= acknowledgedTime + opened.notifyAfterMs * 1_000 + judgedMicroseconds;
}

/** The server's clock is the wall clock in ms, which isn't the history's. */
const clockMicroseconds = 50_000;
/**
 * How much later than `notify_after` publications may be judged: three times it is asked after 10 s who has got them, each time
 * for at most 3 s, and after a ping as often again; crashes come in between (rules CU24 and CU25). The rest is for a machine that
 * is busy.
 */
const judgedMicroseconds = 120_000_000;
