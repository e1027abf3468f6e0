import { ClientSubscription, type Subscriber } from "./client-subscription.ts";
import { ChangedSubscription } from "./changes/changed-subscription.ts";
import { isChanging } from "./changes/change-kinds.ts";
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
  if (presenceKindOf(channel) !== undefined) return new PresenceSubscription(channel, subscriber);
  if (receiptsOf(channel) !== undefined) return new ReceiptSubscription(channel, subscriber);
  if (isChanging(channel)) return new ChangedSubscription(channel, subscriber);
  if (growthKindOf(channel) !== undefined) return new GrowthSubscription(channel, subscriber);
  if (pollModeOf(channel) !== undefined) return new PollSubscription(channel, subscriber);
  if (hasCursors(channel)) return new CursorSubscription(channel, subscriber, given);
  return mapModeOf(channel) === undefined
    ? new ClientSubscription(channel, subscriber, given)
    : new MapSubscription(channel, subscriber);
}
