import type { ResolvedChannel } from "../channel/channel-name.ts";
import type { RelayEntry } from "../contract/relay-batch.ts";
import { leavesKey } from "../features/maps/map-commands.ts";
import type { Subscription } from "../session/subscription.ts";

/** What a channel's object has to know of a subscription of a gateway's client that has begun. */
export function entriesOfBegin(
  { announced, exclusive, hidden, info }: Subscription,
  known: ResolvedChannel,
): readonly RelayEntry[] {
  const entries: RelayEntry[] = [];
  if (announced) entries.push({ type: "join", info });
  if (exclusive) entries.push({ type: "sole", user: info.user, client: info.client });
  if (!hidden && hasPresenceMaps(known)) entries.push({ type: "here", info });
  return entries;
}

/**
 * The same of one that has ended, or never began.
 *
 * @param wasAnnounced whether its join was announced (rule O5)
 */
export function entriesOfEnd(
  subscription: Subscription,
  wasAnnounced: boolean,
  known: ResolvedChannel,
): readonly RelayEntry[] {
  const { begun, hidden, info } = subscription;
  const entries: RelayEntry[] = [];
  if (wasAnnounced) entries.push({ type: "leave", info });
  if (leavesKey(subscription, known)) entries.push({ type: "gone", info });
  if (begun && !hidden && hasPresenceMaps(known)) entries.push({ type: "away", info });
  return entries;
}

/** Whether the object of a channel has to be told at once that it has no subscriber here any more. */
export function awaitsEnd(known: ResolvedChannel): boolean {
  // A presence map is counted for as long as it has subscribers (rule Z22).
  if (known.outcome !== "resolved") return false;
  const { subscriptionType: type } = known.options;
  return type === "map_clients" || type === "map_users";
}

function hasPresenceMaps(known: ResolvedChannel): boolean {
  return known.outcome === "resolved" && known.options.presenceMaps !== undefined;
}
