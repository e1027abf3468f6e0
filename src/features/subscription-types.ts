import type { SubscriptionTypes } from "../session/ports.ts";
import { mapSubscriptions } from "./maps/subscription-type.ts";
import { pollSubscriptions } from "./shared-polls/subscription-type.ts";

/** The types of subscriptions that the features bring. */
export const subscriptionTypes: SubscriptionTypes = {
  map: mapSubscriptions,
  map_clients: mapSubscriptions,
  map_users: mapSubscriptions,
  shared_poll: pollSubscriptions,
};
