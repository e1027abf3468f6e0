import type { SubscriptionPart } from "../../../session/channels.ts";

/** Makes those members of a channel's audience who subscribe, where the namespace says so (rule CU22). */
export const membersOfSubscriptions: SubscriptionPart = {
  entryOfBegin: ({ info: { user } }, { cursors }) =>
    user === "" || cursors?.audience !== "subscribed"
      ? undefined
      : { type: "members", users: [user] },
};
