import { ClientSubscription } from "./client-subscription.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { GrowthSubscription } from "./growth-subscription.ts";
import { hasCursors, receiptsOf } from "./cursor-kinds.ts";
import { CursorSubscription } from "./cursor-subscription.ts";
import { mapModeOf } from "./map-kinds.ts";
import { MapSubscription } from "./map-subscription.ts";
import { pollModeOf } from "./poll-kinds.ts";
import { PollSubscription } from "./poll-subscription.ts";
import { presenceKindOf } from "./presence-kinds.ts";
import { PresenceSubscription } from "./presence-subscription.ts";
import { ReceiptSubscription } from "./receipt-subscription.ts";
import type { ReceivedFrame } from "./received-frame.ts";
import type { WorldContext } from "./world-context.ts";

/** The client whose subscription it is. */
interface Subscriber {
  readonly who: string;
  readonly user: string;
  readonly context: WorldContext;
  readonly send: (command: object, answered: (frame: ReceivedFrame) => void) => void;
  /** Does work after the client's backoff. */
  readonly askLater: (work: () => void) => void;
}

/**
 * A client's subscription to a channel of any kind.
 *
 * @param given whether the server subscribes the client when it connects
 */
export function subscriptionOf(
  channel: string,
  given: boolean,
  subscriber: Subscriber,
): ClientSubscription {
  const { who, user, context } = subscriber;
  const { publicationLog, eventLog } = context;
  const now = (): number => context.timeline.nowMs;
  const mirror = { who, logs: context, now, pageSize: pageSizeOf(who) };
  if (presenceKindOf(channel) !== undefined) return new PresenceSubscription(channel, mirror);
  if (receiptsOf(channel) !== undefined) return new ReceiptSubscription(channel, context, mirror);
  if (growthKindOf(channel) !== undefined)
    return new GrowthSubscription(channel, who, context, pageSizeOf(who));
  if (pollModeOf(channel) !== undefined) return new PollSubscription(channel, subscriber);
  if (hasCursors(channel)) return new CursorSubscription(channel, given, { who, user, context });
  return mapModeOf(channel) === undefined
    ? new ClientSubscription(channel, given, who, publicationLog, eventLog)
    : new MapSubscription(channel, who, publicationLog, eventLog, pageSizeOf(who));
}

/** Clients differ in how many entries of a map they ask for at once. */
function pageSizeOf(client: string): number {
  return 1 + ((client.length + client.charCodeAt(client.length - 1)) % 3);
}
