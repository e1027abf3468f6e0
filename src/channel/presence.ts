import type { Subscriber } from "../hub/subscriber.ts";
import type { ClientInfo } from "../protocol/publication.ts";
import type { PresenceResult, PresenceStatsResult } from "../protocol/reply.ts";

/** The clients that are present on the gateways of a channel. */
export interface GatheredPresence {
  readonly clients: readonly ClientInfo[];
  /** Whether all gateways have answered. */
  readonly complete: boolean;
}

/**
 * Lists the clients that are present. Presence is derived from the open connections each time it is requested, and
 * never stored (rule P1). Each client is listed once, although a client that moves may be known in two places for a
 * moment.
 *
 * @param others the clients on gateways; absent if no gateway follows the channel
 */
export function presence(
  subscribers: readonly Subscriber[],
  others: GatheredPresence = noOthers,
): PresenceResult {
  const clients = new Map(others.clients.map((info) => [info.client, info]));
  const here = subscribers.filter((subscriber) => subscriber.present).map(({ info }) => info);
  // This object's own view is newer than the answers of gateways.
  for (const info of here) clients.delete(info.client);
  const present = { clients: [...here, ...clients.values()] };
  return others.complete ? present : { ...present, incomplete: true };
}

/** Counts the clients that are present, and their different users; see {@link presence}. */
export function presenceStats(
  subscribers: readonly Subscriber[],
  others?: GatheredPresence,
): PresenceStatsResult {
  const { clients, ...rest } = presence(subscribers, others);
  const userCount = new Set(clients.map((info) => info.user)).size;
  return { clientCount: clients.length, userCount, ...rest };
}

const noOthers: GatheredPresence = { clients: [], complete: true };
