import { describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { type EndedSession, EndedUsers } from "../../../src/users/ended-users.ts";

const connected = (user: string): EndedSession => ({
  user,
  hasConnected: true,
  held: false,
  identity: {},
});

/** What ends on an object that holds the connections of some users, and what the homes are told, which is sorted. */
function endedFixture(
  asks: { readonly keepsStatus: boolean; readonly reportsWhoIsOnline: boolean },
  sessions: readonly { readonly user: string; readonly takesOrders: boolean }[] = [],
) {
  const works: (() => void)[] = [];
  const calls: (readonly [string, readonly string[], readonly string[]])[] = [];
  const counts = { looks: 0 };
  const ended = new EndedUsers({
    ...asks,
    later: (waitMs, work) => {
      expect(waitMs).toBe(limits.endedNoteMs);
      works.push(work);
    },
    users: () => {
      counts.looks++;
      return sessions.filter(({ takesOrders }) => takesOrders).map(({ user }) => user);
    },
    report: (home, wereOnline, left) => calls.push([home, wereOnline, left]),
  });
  const wait = () => {
    works.shift()?.();
    const all = calls.splice(0);
    for (const [home, ...told] of all)
      expect(told.flat().map(homeName)).toEqual(told.flat().map(() => home));
    return {
      wereOnline: all.flatMap(([, users]) => users).toSorted(),
      left: all.flatMap(([, , users]) => users).toSorted(),
    };
  };
  return { ended, works, counts, calls, wait };
}

const status = { keepsStatus: true, reportsWhoIsOnline: false };
const events = { keepsStatus: false, reportsWhoIsOnline: true };

describe("the users whose connections have ended", () => {
  it("[U26] are told to their homes together, but for those who are still connected", () => {
    const { ended, works, counts, wait } = endedFixture(status, [
      { user: "ada", takesOrders: true },
      { user: "bob", takesOrders: false },
    ]);
    for (const user of ["ada", "bob", "eve", "bob"]) ended.ended(connected(user));
    expect(works).toHaveLength(1);
    expect(wait()).toStrictEqual({ wereOnline: ["bob", "eve"], left: [] });
    expect(counts.looks).toBe(1);
    ended.ended(connected("eve"));
    expect(works).toHaveLength(1);
    expect(wait()).toStrictEqual({ wereOnline: ["eve"], left: [] });
  });

  it("[U26] were online only if they were let in", () => {
    const { ended, works, wait } = endedFixture(status);
    ended.ended({ ...connected("ada"), hasConnected: false });
    ended.ended({ ...connected("bob"), held: true });
    expect(works).toHaveLength(0);
    ended.ended({ ...connected("eve"), identity: { passing: true } });
    expect(wait()).toStrictEqual({ wereOnline: ["eve"], left: [] });
  });

  it("[E11] have left, also if they weren't let in, unless they poll", () => {
    const { ended, wait } = endedFixture(events);
    ended.ended({ ...connected("ada"), hasConnected: false });
    ended.ended({ ...connected("bob"), held: true });
    ended.ended({ ...connected("eve"), identity: { passing: true } });
    expect(wait()).toStrictEqual({ wereOnline: [], left: ["ada", "bob"] });
  });

  it("[U26] [E17] are told in one call where both is asked for, as all of their connections were", () => {
    const { ended, calls, works } = endedFixture({ keepsStatus: true, reportsWhoIsOnline: true });
    ended.ended({ ...connected("eve"), identity: { passing: true } });
    ended.ended({ ...connected("eve"), held: true });
    works.shift()?.();
    expect(calls).toStrictEqual([[homeName("eve"), ["eve"], ["eve"]]]);
  });

  it("[B1] are told so many at a time", () => {
    const { ended, calls, works } = endedFixture(status);
    let count = 0;
    for (let index = 0; count < limits.registerUsersMax + 1; index++) {
      if (homeName(`user${index}`) !== "0") continue;
      ended.ended(connected(`user${index}`));
      count++;
    }
    works.shift()?.();
    expect(calls.map(([, users]) => users.length)).toStrictEqual([limits.registerUsersMax, 1]);
  });
});
