import type { AddedSessionCalls } from "../../contract/object-calls.ts";
import { limits } from "../../limits.ts";
import type { AddedCalls, PartedObject } from "../../object/part.ts";
import { type ConnectedUsers, UserListing, type UsersQuery } from "./connected-users.ts";
import type { Feature } from "../feature.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedSessionCalls {
    /** Lists the first users who have connections here, for the console (rule N20). */
    connectedUsers(query: UsersQuery): Promise<ConnectedUsers>;
  }
}

type ConsoleCalls = Pick<AddedSessionCalls, "connectedUsers">;

/** The call with which the console asks an object for its users. */
export const consoleCalls: AddedCalls<ConsoleCalls, PartedObject> = {
  connectedUsers: {
    answer(object, [query], done) {
      object.looked();
      const listing = new UserListing(object.sockets.sessions(), query);
      const listSlice = (): void => {
        const users = listing.next(limits.listedSliceChannels);
        if (users === undefined) object.later(0, listSlice);
        else done(users);
      };
      listSlice();
    },
  },
};

/** The operator's console. */
export const consoleFeature = { sessionCalls: consoleCalls } as const satisfies Feature;
