import type { Feature } from "../feature.ts";
import { mapMethods, mapOperations } from "./methods.ts";
import { mapSubscriptions } from "./subscription-type.ts";

/** Maps: channels with keys and values. */
export const maps = {
  operations: mapOperations,
  methods: mapMethods,
  subscriptionTypes: {
    map: mapSubscriptions,
    map_clients: mapSubscriptions,
    map_users: mapSubscriptions,
  },
} as const satisfies Feature;
