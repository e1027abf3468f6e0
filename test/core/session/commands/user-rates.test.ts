import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { UserRates } from "../../../../src/session/rate-limit.ts";
import { configured } from "../../../support/configured.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";
import { publish } from "../frames.ts";
import type { TestConnection } from "../test-connection.ts";

/** A limit of so many commands in 10 seconds. */
const per10s = (rate: number) => ({ enabled: true, buckets: [{ interval: "10s", rate }] });

const limited = (user: object, connection?: object) =>
  new ManyChannelsFixture({
    client: {
      rate_limit: {
        user_command: { enabled: true, ...user },
        ...(connection && { client_command: { enabled: true, ...connection } }),
      },
    },
  });

/** Whether a publish was answered with something else than 111. */
function publishes(fixture: ManyChannelsFixture, connection: TestConnection): boolean {
  const frames = fixture.ask(connection, publish(3, "room"));
  return !frames.some((frame) => frame.includes(`"code":111`));
}

describe("[B21] the rates of a user", () => {
  it("are shared by the connections of a user, and are each user's own", () => {
    const fixture = limited({ publish: per10s(2) });
    const [one, two, other] = [
      fixture.connected("ada"),
      fixture.connected("ada"),
      fixture.connected("bob"),
    ];
    expect([one, two, one, two].map((each) => publishes(fixture, each))).toStrictEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(publishes(fixture, other)).toBe(true);
    fixture.nowMs += 5_000;
    expect([two, one].map((each) => publishes(fixture, each))).toStrictEqual([true, false]);
  });

  it("are counted beside those of a connection", () => {
    const fixture = limited({ publish: per10s(3) }, { publish: per10s(2) });
    const [one, two] = [fixture.connected("ada"), fixture.connected("ada")];
    expect([one, one, one].map((each) => publishes(fixture, each))).toStrictEqual([
      true,
      true,
      false,
    ]);
    expect([two, two].map((each) => publishes(fixture, each))).toStrictEqual([true, false]);
  });

  it("aren't those of anonymous users", () => {
    const fixture = limited({ publish: per10s(1) });
    const connection = fixture.connected("");
    expect([1, 2, 3].map(() => publishes(fixture, connection))).not.toContain(false);
  });

  it("are forgotten for who may send as much as a new user, or else for the first", () => {
    const user_command = { enabled: true, total: per10s(1) };
    const rates = new UserRates(configured({ client: { rate_limit: { user_command } } }));
    const take = (user: string, nowMs: number) => rates.admit(user, "total", "", nowMs);
    for (let index = 0; index < limits.userRatesMax; index++) take(`user-${index}`, 0);
    expect(take("user-0", 0)).toBe(false);
    expect(take("one more", 0)).toBe(true);
    expect(take("user-1", 0)).toBe(false);
    expect(take("user-0", 0)).toBe(true);
    expect(take("later", 10_000)).toBe(true);
    expect(take("user-1", 10_000)).toBe(true);
  });
});
