import type { ChannelRecord } from "./channel-record.ts";
import type { EventTaken } from "./history-event.ts";
import type { Violations } from "./violations.ts";

/** The publications of a history, and those of which a backend was told. */
export interface ToldPublications {
  readonly channels: ReadonlyMap<string, ChannelRecord>;
  /** The channels of which the backend is told. */
  readonly listed: ReadonlySet<string>;
  readonly told: readonly EventTaken[];
  /** Whether the backend may not have been told of everything: the history ends early, or there was a gap. */
  readonly mayMiss: boolean;
  readonly time: number;
}

/**
 * Checks that a backend was told once of each publication that was acknowledged or received, with its position, and of
 * no other one (rule E1).
 */
export function checkPublicationEvents(
  { channels, listed, told, mayMiss, time }: ToldPublications,
  violations: Violations,
): void {
  const seen = new Set<string>();
  for (const event of told) {
    const { channel = "", value = "" } = event;
    const problem = listed.has(channel)
      ? problemOf(event, channels)
      : "is of no channel that is told of";
    const key = `${channel} ${value}`;
    const why = seen.has(key) ? "was told before" : problem;
    seen.add(key);
    if (why === undefined) continue;
    const { object, number, process } = event;
    const text = `the publication ${value} (${object}, ${number}) ${why}`;
    violations.add({ kind: "mistold", channel, process, time: event.time, text });
  }
  if (mayMiss) return;
  for (const name of listed) {
    for (const { value, outcome, receivedBy } of channels.get(name)?.publications.values() ?? []) {
      const isThere = outcome === "acknowledged" || receivedBy !== undefined;
      if (!isThere || seen.has(`${name} ${value}`)) continue;
      const text = `${value} was published, and never told`;
      violations.add({ kind: "untold", channel: name, process: "", time, text });
    }
  }
}

/** How the event differs from what happened; undefined if it doesn't. */
function problemOf(
  { channel: name = "", value = "", offset, epoch }: EventTaken,
  channels: ReadonlyMap<string, ChannelRecord>,
): string | undefined {
  const channel = channels.get(name);
  const publication = channel?.publications.get(value);
  if (channel === undefined || publication === undefined) return "was published by nobody";
  if (publication.outcome === "refused") return "had been refused";
  if (channel.recovery === "none")
    return offset === undefined ? undefined : "has an offset, and its channel has no history";
  if (offset === undefined || epoch === undefined) return "has no position";
  const { stream } = publication;
  if (stream === undefined || (stream.epoch === epoch && publication.offset === offset))
    return undefined;
  return `is at ${epoch}:${offset}, and others saw it at ${stream.epoch}:${publication.offset}`;
}
