import type { Recipient } from "../hub/recipient.ts";
import type { PresenceResult, PresenceStatsResult } from "../protocol/reply.ts";

/** Who is present: derived from the open sockets each time it is asked, never stored (rule P1). */
export function presence(recipients: readonly Recipient[]): PresenceResult {
  return {
    clients: recipients.filter((recipient) => recipient.present).map((recipient) => recipient.info),
  };
}

/** How many clients are present, and how many different users they are. */
export function presenceStats(recipients: readonly Recipient[]): PresenceStatsResult {
  const { clients } = presence(recipients);
  return { clientCount: clients.length, userCount: new Set(clients.map((info) => info.user)).size };
}
