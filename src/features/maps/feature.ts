import type { Feature } from "../feature.ts";
import { mapSubscriptions } from "./subscription-type.ts";

/** Maps: channels with keys and values. */
export const maps: Feature = {
  subscriptionTypes: {
    map: mapSubscriptions,
    map_clients: mapSubscriptions,
    map_users: mapSubscriptions,
  },
};
