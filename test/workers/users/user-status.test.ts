import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { call } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { loseCalls } from "../support/lose-calls.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { awake } from "../support/object-state.ts";
import { gatewayPlace } from "../support/place.ts";
import { awakeVariants, Variant, variants } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";
import { writeRegistrations } from "./written-registrations.ts";

configure({
  ...testConfig,
  client: { ...testConfig.client, users: { status: { enabled: true } } },
});

// An eviction waits until ends are told of.
Object.assign(limits, { endedNoteMs: 100 });

const newUser = () => `user-${crypto.randomUUID()}`;
const homeOf = (user: string) => env.USERS.getByName(homeName(user));
const nowSeconds = () => Math.floor(Date.now() / 1_000);

interface Status {
  readonly user: string;
  readonly active: number;
  readonly online: number;
  readonly state: string;
}

async function statusOf(...users: readonly string[]): Promise<readonly Status[]> {
  const { body } = await call("get_user_status", { users });
  const { result }: { result?: { statuses: readonly Status[] } } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result.statuses;
}

/** The rows that a home has of a user's status: how often it noted that the user was online. */
function rowsOf(user: string): Promise<number> {
  return runInDurableObject<UsersObject, number>(homeOf(user), ({ sql }) => sql.rowsWritten);
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each(variants)("the status of a user on $name", (variant) => {
  const pause = async (channel: string, user: string): Promise<void> => {
    await variant.betweenSteps(channel);
    if (variant.name.endsWith("evicted")) await hibernate(homeOf(user));
  };

  it("[U25] says when a user was active, and that the user is online", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    await variant.connect(channel, ada);
    const before = nowSeconds();
    expect((await call("update_user_status", { users: [ada, bob], state: "busy" })).body).toBe(
      '{"result":{}}',
    );
    await pause(channel, ada);
    const [first, second] = await statusOf(ada, bob);
    expect(first).toMatchObject({ user: ada, state: "busy" });
    expect(first?.active).toBeGreaterThanOrEqual(before);
    expect(first?.online).toBeGreaterThanOrEqual(first?.active ?? 0);
    expect(second).toMatchObject({ user: bob, online: 0, state: "busy" });
    expect((await call("delete_user_status", { users: [ada, bob] })).body).toBe('{"result":{}}');
    await pause(channel, ada);
    const [online, gone] = await statusOf(ada, bob);
    expect(online).toMatchObject({ active: 0, state: "" });
    expect(online?.online).toBeGreaterThanOrEqual(before);
    expect(gone).toStrictEqual({ user: bob, active: 0, online: 0, state: "" });
  });

  it("[U26] notes when the last connection on an object ended", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const [one, two] = [await variant.connect(channel, user), await variant.connect(channel, user)];
    const stored = () =>
      runInDurableObject<UsersObject, number>(homeOf(user), ({ sql }) => {
        const [table] = sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'status'");
        if (table === undefined) return 0;
        return Number(
          sql.rows("SELECT online FROM status WHERE user = ?", user)[0]?.["online"] ?? 0,
        );
      });
    one.close();
    await one.closed;
    await pause(channel, user);
    const before = nowSeconds();
    two.close();
    await two.closed;
    await vi.waitFor(async () => expect(await stored()).toBeGreaterThanOrEqual(before), patience);
    const noted = await stored();
    await pause(channel, user);
    expect(await statusOf(user)).toStrictEqual([{ user, active: 0, online: noted, state: "" }]);
  });
});

describe.each(awakeVariants)("the status of users on $place.name", (variant) => {
  it("[U26] costs no row as long as the user is connected", async () => {
    const channel = newChannel("room");
    const user = newUser();
    let neighbour = newUser();
    while (homeName(neighbour) !== homeName(user)) neighbour = newUser();
    // The first row of a home comes with its tables.
    await call("update_user_status", { users: [neighbour] });
    const fence = await variant.connect(channel, neighbour);
    await variant.connect(channel, user);
    // Both registrations wait for others, and are rows, too.
    await writeRegistrations(user);
    const before = await rowsOf(user);
    for (let count = 0; count < 3; count++) await statusOf(user);
    const other = await variant.connect(channel, user);
    for (const socket of [other, fence]) {
      socket.close();
      await socket.closed;
    }
    // The neighbour's end is told together with that of the user's other connection, and costs the only row.
    await vi.waitFor(async () => expect((await rowsOf(user)) - before).toBe(1), patience);
    expect(
      await runInDurableObject<UsersObject, number>(
        homeOf(user),
        ({ sql }) => sql.rows("SELECT 1 FROM status WHERE user = ?", user).length,
      ),
    ).toBe(0);
  });
});

describe("the methods for users' status", () => {
  it("[U25] say that they may be incomplete when an object doesn't answer", async () => {
    const channel = newChannel("room");
    const user = newUser();
    await new Variant(gatewayPlace(), awake).connect(channel, user);
    const findAgain = loseCalls("online");
    const { body } = await call("get_user_status", { users: [user] });
    expect(body).toContain('"online":0');
    expect(body).toContain('"incomplete":true');
    findAgain();
    const known = (await call("get_user_status", { users: [user] })).body;
    expect(known).not.toContain('"online":0');
    expect(known).not.toContain("incomplete");
  });
});
