import type { ChannelRecord } from "./channel-record.ts";
import type { PublicationRecord } from "./publication-record.ts";
import type { StreamRecord } from "./stream-record.ts";
import type { ViolationKind } from "./check-result.ts";
import type { Violations } from "./violations.ts";

/** Somebody says that a value stands at an offset. */
export interface Sighting {
  readonly channel: ChannelRecord;
  readonly stream: StreamRecord;
  readonly offset: number;
  readonly value: string;
  readonly process: string;
  readonly time: number;
}

/**
 * Compares what somebody says of a place with what others said of it. Whoever speaks first is believed. Then
 * another value at the same place was swapped with it if it is known to stand elsewhere in the epoch, and otherwise the first one was
 * forgotten; the same value at a place that nobody spoke of was published again.
 *
 * @returns the publication; undefined when nobody published the value on this channel
 */
export function place(sighting: Sighting, violations: Violations): PublicationRecord | undefined {
  const { channel, stream, offset, value, process, time } = sighting;
  const publication = channel.publications.get(value);
  if (publication === undefined) {
    complain(sighting, violations, "invented", "which nobody published here");
    return undefined;
  }
  const there = stream.byOffset.get(offset);
  if (there === publication) return publication;
  const known = publication.stream;
  if (known === undefined) {
    if (there === undefined) {
      publication.stream = stream;
      publication.offset = offset;
      publication.placedBy = process;
      stream.byOffset.set(offset, publication);
      stream.reach(offset, time);
      judgeClaims(sighting, publication, violations);
    } else {
      const text = `where ${there.value} stood, as ${there.placedBy} says`;
      complain(sighting, violations, "forgotten", text);
    }
    return publication;
  }
  const where = `${known.epoch}:${publication.offset}`;
  if (there === undefined || known !== stream) {
    const text = `which stands at ${where} too, as ${publication.placedBy} says`;
    complain(sighting, violations, "republished", text);
    // So that it is said once, not by each who hears it.
    if (there === undefined) stream.byOffset.set(offset, publication);
    stream.reach(offset, time);
  } else {
    const text = `where ${there.value} stands, and it at ${where}, as ${publication.placedBy} says`;
    complain(sighting, violations, "swapped", text);
  }
  return publication;
}

/** A stream that somebody was told of can't have gone as far as a publication that nobody had begun to publish. */
function judgeClaims(
  { channel, stream, offset, value, time }: Sighting,
  { invokedAt }: PublicationRecord,
  violations: Violations,
): void {
  const claim = stream.claimBefore(offset, invokedAt);
  if (claim === undefined) return;
  const { process } = claim;
  const text = `${process} was told that the stream stands at ${stream.epoch}:${claim.offset} before ${value} was published there, at ${offset}`;
  violations.add({ kind: "forgotten", channel: channel.name, process, time, text });
}

function complain(
  { channel, stream, offset, value, process, time }: Sighting,
  violations: Violations,
  kind: ViolationKind,
  what: string,
): void {
  const text = `${process} has ${value} at ${stream.epoch}:${offset}, ${what}`;
  violations.add({ kind, channel: channel.name, process, time, text });
}
