import type { ObjectPart } from "../../object/part.ts";

/** The subscriptions of an object, as the presence maps of their channels need them. */
export const shownSubscriptions: ObjectPart = {
  entryOfBegin: ({ hidden, info }, { presenceMaps }) =>
    hidden || presenceMaps === undefined ? undefined : { type: "here", info },
  entryOfEnd: ({ begun, hidden, info }, { presenceMaps }) =>
    !begun || hidden || presenceMaps === undefined ? undefined : { type: "away", info },
  // A presence map is counted for as long as it has subscribers (rule Z22).
  awaitsEnd: ({ subscriptionType: type }) => type === "map_clients" || type === "map_users",
};
