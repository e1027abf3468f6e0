import type { Subscriber } from "../hub/subscriber.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import type { PresenceResult, PresenceStatsResult } from "../protocol/reply.ts";

/** Who is present elsewhere, as the gateways said. */
export interface GatheredPresence {
  readonly clients: readonly ClientInfo[];
  /** Whether all gateways have answered. */
  readonly complete: boolean;
}

/**
 * Who is present: derived from the open sockets each time it is asked, never stored (rule P1). Everybody is in it once,
 * though a client that moves may for a moment be known in two places.
 *
 * @param others absent when no gateway follows the channel
 */
export function presence(
  subscribers: readonly Subscriber[],
  others: GatheredPresence = noOthers,
): PresenceResult {
  const clients = new Map(others.clients.map((info) => [info.client, info]));
  const here = subscribers.filter((subscriber) => subscriber.present).map(({ info }) => info);
  // What this object sees itself is newer than what it was told.
  for (const info of here) clients.delete(info.client);
  const present = { clients: [...here, ...clients.values()] };
  return others.complete ? present : { ...present, incomplete: true };
}

/** How many clients are present, and how many different users they are; see {@link presence}. */
export function presenceStats(
  subscribers: readonly Subscriber[],
  others?: GatheredPresence,
): PresenceStatsResult {
  const { clients, ...rest } = presence(subscribers, others);
  const userCount = new Set(clients.map((info) => info.user)).size;
  return { clientCount: clients.length, userCount, ...rest };
}

const noOthers: GatheredPresence = { clients: [], complete: true };
