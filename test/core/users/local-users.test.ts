import { describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { ScriptedHome } from "./scripted-home.ts";

/** Users who have one home. */
function neighbours(count: number): readonly string[] {
  const users: string[] = [];
  for (let number = 0; users.length < count; number++)
    if (homeName(`user${number}`) === homeName("user0")) users.push(`user${number}`);
  return users;
}

function register(home: ScriptedHome, ...users: readonly string[]): void {
  for (const user of users) home.users.register(user, () => {});
}

describe("the users of an object", () => {
  it("[B1] are remembered up to a limit, and then all are forgotten", () => {
    const home = new ScriptedHome();
    for (let number = 0; number < limits.usersRememberedMax; number++) {
      register(home, `user${number}`);
      home.answer(0);
    }
    register(home, "user0");
    expect(home.calls).toHaveLength(0);
    register(home, "one more");
    home.answer(0);
    register(home, "one more");
    expect(home.calls).toHaveLength(0);
    register(home, "user0");
    expect(home.calls).toHaveLength(1);
  });

  it("[B1] [U5] are registered in few calls at a time, which the others share", () => {
    const home = new ScriptedHome();
    const users = neighbours(limits.registerCallsMax + 3);
    register(home, ...users);
    expect(home.calls.map((call) => call.users)).toStrictEqual(
      users.slice(0, limits.registerCallsMax).map((user) => [user]),
    );
    home.answer(0);
    expect(home.calls.at(-1)?.users).toStrictEqual(users.slice(limits.registerCallsMax));
  });

  it("[B1] [U12] ask for slots in few calls at a time, which the others share", () => {
    const home = new ScriptedHome();
    const count = limits.slotCallsMax + 3;
    for (let number = 0; number < count; number++)
      home.users.admit("ada", `client${number}`, () => {});
    expect(home.admissions.map(({ connections }) => connections.length)).toStrictEqual(
      Array.from({ length: limits.slotCallsMax }, () => 1),
    );
    home.admissions[0]?.answer({ refused: [] });
    expect(home.admissions.at(-1)?.connections).toHaveLength(count - limits.slotCallsMax);
  });

  it("[U41] are listed for their home while they are asked about, and are forgotten when they have left", () => {
    const home = new ScriptedHome();
    const [pending, left] = neighbours(2);
    if (pending === undefined || left === undefined) throw new Error("few");
    register(home, left);
    home.answer(0);
    register(home, pending);
    const held = home.users.heldOf(homeName(left), []);
    expect(held).toStrictEqual({ keys: [pending], ends: [0] });
    expect(home.users.heldOf("another home", []).keys).toStrictEqual([]);
    register(home, left);
    home.answer(0);
    expect(home.calls.at(-1)?.users).toStrictEqual([left]);
  });
});
