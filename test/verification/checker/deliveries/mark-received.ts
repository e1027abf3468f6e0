import type { ChannelRecord } from "../channel-record.ts";
import type { PublicationRecord } from "../publication-record.ts";
import type { Violations } from "../violations.ts";

/** Notes that a publication was delivered, on a channel with or without offsets. */
export function markReceived(
  channel: ChannelRecord,
  publication: PublicationRecord,
  process: string,
  time: number,
  violations: Violations,
): void {
  publication.receivedBy ??= process;
  if (publication.approval === "awaited") {
    const text = `${process} received ${publication.value}, which no backend had allowed`;
    violations.add({ kind: "unapproved", channel: channel.name, process, time, text });
  }
  if (publication.outcome !== "refused") return;
  const text = `${process} received ${publication.value}, which had been refused`;
  violations.add({ kind: "resurrected", channel: channel.name, process, time, text });
}
