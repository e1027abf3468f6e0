import type { ChannelRecord } from "../channel-record.ts";
import type { PublicationRecord } from "../publication-record.ts";
import type { StreamRecord } from "../stream-record.ts";
import type { ViolationKind } from "../check-result.ts";
import type { Violations } from "../violations.ts";

/** A statement of one process that a value has an offset. */
export interface Sighting {
  readonly channel: ChannelRecord;
  readonly stream: StreamRecord;
  readonly offset: number;
  readonly value: string;
  readonly process: string;
  readonly time: number;
}

/**
 * Compares a statement about an offset with earlier ones, of which the first is believed. If another value has the
 * offset: it was swapped with this one if this one is known to have another offset in the epoch, and forgotten
 * otherwise. If this value is known at another offset, and this offset was free, it was published twice.
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
      const text = `where ${there.value} was, as ${there.placedBy} says`;
      complain(sighting, violations, "forgotten", text);
    }
    return publication;
  }
  const where = `${known.epoch}:${publication.offset}`;
  if (there === undefined || known !== stream) {
    const text = `which is at ${where} too, as ${publication.placedBy} says`;
    complain(sighting, violations, "republished", text);
    // So that the violation is reported once, not once for each subscriber.
    if (there === undefined) stream.byOffset.set(offset, publication);
    stream.reach(offset, time);
  } else {
    const text = `where ${there.value} is, and this value is at ${where}, as ${publication.placedBy} says`;
    complain(sighting, violations, "swapped", text);
  }
  return publication;
}

/** A stream can't have reached an offset before the publish of the publication at that offset began. */
function judgeClaims(
  { channel, stream, offset, value, time }: Sighting,
  { invokedAt }: PublicationRecord,
  violations: Violations,
): void {
  const claim = stream.claimBefore(offset, invokedAt);
  if (claim === undefined) return;
  const { process } = claim;
  const text = `${process} was told that the stream is at ${stream.epoch}:${claim.offset} before ${value} was published there, at ${offset}`;
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
