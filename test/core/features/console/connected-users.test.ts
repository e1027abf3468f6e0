import { describe, expect, it } from "vitest";
import { consoleLimits } from "../../../../src/features/console/limits.ts";
import {
  pageOfUsers,
  UserListing,
  usersAsked,
} from "../../../../src/features/console/connected-users.ts";

const connection = (user: string, hasConnected = true) => ({ user, hasConnected });

/** The users of sessions, as an object lists them that looks at three connections in a turn. */
function listed(
  sessions: readonly ReturnType<typeof connection>[],
  after = "",
  limit = usersAsked,
) {
  const listing = new UserListing(sessions, { after, limit });
  for (let turn = 0; turn <= sessions.length; turn++) {
    const users = listing.next(3);
    if (users !== undefined) return users;
  }
  throw new Error("the listing doesn't end");
}

describe("the users whom the console lists", () => {
  it("[N20] are counted in slices, exactly, without connections that wait for their connect", () => {
    const sessions = ["d", "b", "", "a", "c", "b", "a", "", "a"].map((user) => connection(user));
    expect(listed([...sessions, connection("a", false)], "", 2)).toStrictEqual({
      users: [
        { user: "a", connections: 3 },
        { user: "b", connections: 2 },
      ],
      anonymous: 2,
    });
    expect(listed(sessions, "b").users).toStrictEqual([
      { user: "c", connections: 1 },
      { user: "d", connections: 1 },
    ]);
  });

  it("[N20] come in pages, with the connections of all gateways added up", () => {
    const max = consoleLimits.consoleUsersListedMax;
    const names = Array.from({ length: max + 5 }, (_, number) => `user-${1_000 + number}`);
    const [one, other] = [
      listed(names.map((user) => connection(user))),
      listed([connection("user-1000")]),
    ];
    const page = pageOfUsers([one, other], false);
    expect(page.users).toHaveLength(max);
    expect(page.users[0]).toStrictEqual({ user: "user-1000", connections: 2 });
    expect(page.cursor).toBe(names[max - 1]);
    expect(page.incomplete).toBeUndefined();
    const next = pageOfUsers(
      [
        listed(
          names.map((user) => connection(user)),
          page.cursor,
        ),
      ],
      false,
    );
    expect(next.users.map(({ user }) => user)).toStrictEqual(names.slice(max));
    expect(next.cursor).toBeUndefined();
  });

  it("[N20] are incomplete if a gateway doesn't answer or isn't asked", () => {
    const one = listed([connection("ada")]);
    expect(pageOfUsers([one, undefined], false).incomplete).toBe(true);
    expect(pageOfUsers([one], true).incomplete).toBe(true);
    expect(pageOfUsers([], false)).toStrictEqual({ users: [], anonymous: 0 });
  });
});
