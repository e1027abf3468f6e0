import { describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { EndedUsers } from "../../../src/users/ended-users.ts";

describe("the users whose connections have ended", () => {
  it("[U26] are told to their homes together, but for those who are still connected", () => {
    const works: (() => void)[] = [];
    const told: (readonly [string, readonly string[]])[] = [];
    let looks = 0;
    const ended = new EndedUsers({
      later: (waitMs, work) => {
        expect(waitMs).toBe(limits.endedNoteMs);
        works.push(work);
      },
      sessions: () => {
        looks++;
        return [
          { user: "ada", takesOrders: true },
          { user: "bob", takesOrders: false },
        ];
      },
      tell: (home, users) => told.push([home, users]),
    });
    for (const user of ["ada", "bob", "eve", "bob"]) ended.ended(user);
    expect(works).toHaveLength(1);
    works.shift()?.();
    expect(told.flatMap(([, users]) => users).toSorted()).toStrictEqual(["bob", "eve"]);
    for (const [home, users] of told) expect(users.map(homeName)).toContain(home);
    expect(looks).toBe(1);
    ended.ended("eve");
    expect(works).toHaveLength(1);
    works.shift()?.();
    expect(told.at(-1)).toStrictEqual([homeName("eve"), ["eve"]]);
  });

  it("[B1] are told so many at a time", () => {
    const told: number[] = [];
    const works: (() => void)[] = [];
    const ended = new EndedUsers({
      later: (_, work) => works.push(work),
      sessions: () => [],
      tell: (_, users) => told.push(users.length),
    });
    let count = 0;
    for (let index = 0; count < limits.registerUsersMax + 1; index++) {
      if (homeName(`user${index}`) !== "0") continue;
      ended.ended(`user${index}`);
      count++;
    }
    works.shift()?.();
    expect(told).toStrictEqual([limits.registerUsersMax, 1]);
  });
});
