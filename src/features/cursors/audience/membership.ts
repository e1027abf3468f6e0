import type { SubscriptionPart } from "../../../session/channels.ts";

/**
 * Makes those members of a channel's audience who subscribe, where the namespace says so (rule CU22), and those whom a token
 * or a backend names with the subscription (rule CU29).
 */
export const membersOfSubscriptions: SubscriptionPart = {
  entryOfBegin: ({ info: { user }, granted: { members = [] } }, { cursors }) => {
    const { audience = "none" } = cursors ?? {};
    if (audience === "none") return undefined;
    const users = audience === "subscribed" && user !== "" ? [user, ...members] : members;
    return users.length === 0 ? undefined : { type: "members", users };
  },
};
