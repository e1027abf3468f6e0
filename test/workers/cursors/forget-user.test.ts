import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { limits } from "../../../src/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake, evicted } from "../support/object-state.ts";
import { testConfig } from "../support/test-config.ts";

const kept = { history_size: 10, history_ttl: "5m", allow_subscribe_for_client: true };
configure({
  ...testConfig,
  // Homes know channels whether they know connections or not (rule CU31).
  client: { ...testConfig.client, users: { enabled: false } },
  channel: {
    ...testConfig.channel,
    namespaces: [
      ...testConfig.channel.namespaces,
      { name: "kept", ...kept, cursors: { enabled: true, audience: "named" } },
    ],
  },
});

const before = { ...cursorLimits };
const beforeLimits = { ...limits };
const getChannel = env.CHANNELS.getByName.bind(env.CHANNELS);
const getHome = env.USERS.getByName.bind(env.USERS);
afterEach(() => {
  Object.assign(cursorLimits, before);
  Object.assign(limits, beforeLimits);
  env.CHANNELS.getByName = getChannel;
  env.USERS.getByName = getHome;
});

const homeOf = (user: string) => getHome(homeName(user));
const homesUsed = new Set<string>();

/** A user whose home no other test has seen: its instances are compared. */
function newUser(): string {
  const user = `user-${crypto.randomUUID()}`;
  if (homesUsed.has(homeName(user))) return newUser();
  homesUsed.add(homeName(user));
  return user;
}

const forget = async (user: string) => (await call("forget_user", { user })).body;
const mark = (channel: string, user: string, offset = 1) =>
  call("mark_read", { channel, user, offset });

/** The rows of a table of an object that name a user. */
function rowsOf(
  object: DurableObjectStub | ReturnType<typeof getHome> | ReturnType<typeof getChannel>,
  table: string,
  user: string,
): Promise<number> {
  return runInDurableObject<DurableObject, number>(object, (_, { storage: { sql } }) => {
    const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray();
    if (exists.length === 0) return 0;
    return sql.exec(`SELECT 1 FROM ${table} WHERE user = ?`, user).toArray().length;
  });
}

/** When an object's alarm rings, ms since 1970; Infinity for never. */
function alarmOf(
  object: ReturnType<typeof getHome> | ReturnType<typeof getChannel>,
): Promise<number> {
  return runInDurableObject<DurableObject, number>(
    object,
    async (_, { storage }) => (await storage.getAlarm()) ?? Number.POSITIVE_INFINITY,
  );
}

async function keptOn(channel: string, user: string): Promise<number> {
  const object = getChannel(channel);
  const members = await rowsOf(object, "audience_member", user);
  return members + (await rowsOf(object, "user_mark", user));
}

/** Until these channels have nothing to tell of the user. */
async function told(user: string, channels: readonly string[]): Promise<void> {
  const untold = async (): Promise<number> => {
    const counts = channels.map((channel) => rowsOf(getChannel(channel), "untold_user", user));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  await expect.poll(untold).toBe(0);
}

/** Has calls of a method fail. */
function lose(method: "forgetUserHere" | "keepUsers"): void {
  if (method === "keepUsers")
    env.USERS.getByName = (name, options) =>
      Object.defineProperty(getHome(name, options), method, { value: lostCall });
  else
    env.CHANNELS.getByName = (name, options) =>
      Object.defineProperty(getChannel(name, options), method, { value: lostCall });
}

async function newKept(user: string): Promise<string> {
  const channel = newChannel("kept");
  await publish(channel, 1);
  await mark(channel, user);
  return channel;
}

describe.each([awake, evicted])("a user who is forgotten, objects $name", ({ betweenSteps }) => {
  it("[CU30] [CU31] has nothing kept on any channel when that is acknowledged", async () => {
    const user = newUser();
    const other = newUser();
    const channels = [await newKept(user), await newKept(user), await newKept(user)];
    const [first = ""] = channels;
    await mark(first, other);
    await call("add_audience", { channel: first, users: [user, other] });
    await told(user, channels);
    await told(other, [first]);
    await betweenSteps([homeOf(user), ...channels.map((name) => getChannel(name))]);
    expect(await rowsOf(homeOf(user), "user_channel", user)).toBe(3);
    expect(await forget(user)).toBe('{"result":{}}');
    for (const channel of channels) expect(await keptOn(channel, user)).toBe(0);
    expect(await keptOn(first, other)).toBe(2);
    expect(await rowsOf(homeOf(user), "user_channel", user)).toBe(0);
    await betweenSteps([homeOf(user), ...channels.map((name) => getChannel(name))]);
    // Somebody who isn't known is forgotten, too.
    expect(await forget(user)).toBe('{"result":{}}');
  });

  it("[CU30] isn't forgotten for certain while a channel doesn't answer, and is by the alarm", async () => {
    Object.assign(limits, { orderAnswerMs: 50 });
    const user = newUser();
    const channel = await newKept(user);
    await told(user, [channel]);
    lose("forgetUserHere");
    const { status, body } = await call("forget_user", { user });
    expect([status, body]).toEqual([503, expect.stringContaining('"code":100')]);
    expect(await keptOn(channel, user)).toBe(1);
    expect(await alarmOf(homeOf(user))).toBeLessThanOrEqual(
      Date.now() + cursorLimits.forgetAgainMs,
    );
    env.CHANNELS.getByName = getChannel;
    await betweenSteps([homeOf(user), getChannel(channel)]);
    await expect
      .poll(async () => {
        await runDurableObjectAlarm(homeOf(user));
        return keptOn(channel, user);
      })
      .toBe(0);
    await expect.poll(() => rowsOf(homeOf(user), "user_channel", user)).toBe(0);
  });
});

describe("a channel whose home doesn't hear of a user", () => {
  it("[CU31] tells the home by its alarm, after a crash", async () => {
    const user = newUser();
    lose("keepUsers");
    const channel = await newKept(user);
    expect(await rowsOf(getChannel(channel), "untold_user", user)).toBe(1);
    await crashObject(getChannel(channel));
    expect(await rowsOf(homeOf(user), "user_channel", user)).toBe(0);
    expect(await alarmOf(getChannel(channel))).toBeLessThanOrEqual(
      Date.now() + cursorLimits.tellAgainMs,
    );
    env.USERS.getByName = getHome;
    expect(await runDurableObjectAlarm(getChannel(channel))).toBe(true);
    await told(user, [channel]);
    expect(await rowsOf(homeOf(user), "user_channel", user)).toBe(1);
  });

  it("[CU32] deletes what it kept before the user was forgotten, once the home hears of it", async () => {
    const user = newUser();
    lose("keepUsers");
    const channel = await newKept(user);
    expect(await forget(user)).toBe('{"result":{}}');
    expect(await keptOn(channel, user)).toBe(1);
    env.USERS.getByName = getHome;
    await runDurableObjectAlarm(getChannel(channel));
    await told(user, [channel]);
    expect(await keptOn(channel, user)).toBe(0);
    expect(await rowsOf(homeOf(user), "user_channel", user)).toBe(0);
  });

  it("[CU32] remembers a user no longer than it must", async () => {
    const user = newUser();
    expect(await forget(user)).toBe('{"result":{}}');
    expect(await rowsOf(homeOf(user), "forgotten_user", user)).toBe(1);
    Object.assign(cursorLimits, { forgottenMs: 0 });
    await runDurableObjectAlarm(homeOf(user));
    expect(await rowsOf(homeOf(user), "forgotten_user", user)).toBe(0);
  });
});

describe("what comes after a user was forgotten", () => {
  it("[CU33] is kept anew, and can be forgotten again", async () => {
    const user = newUser();
    const channel = await newKept(user);
    await told(user, [channel]);
    expect(await forget(user)).toBe('{"result":{}}');
    // As if that had been a while ago.
    await runInDurableObject<DurableObject, void>(homeOf(user), (_, { storage: { sql } }) => {
      sql.exec("UPDATE forgotten_user SET time = time - ?", 2 * cursorLimits.tellMs);
    });
    await mark(channel, user);
    await told(user, [channel]);
    expect(await keptOn(channel, user)).toBe(1);
    expect(await rowsOf(homeOf(user), "user_channel", user)).toBe(1);
    expect(await forget(user)).toBe('{"result":{}}');
    expect(await keptOn(channel, user)).toBe(0);
  });

  it("[CU33] is forgotten, too, where it may have been under way before", async () => {
    const user = newUser();
    const channel = await newKept(user);
    await told(user, [channel]);
    expect(await forget(user)).toBe('{"result":{}}');
    await mark(channel, user);
    await told(user, [channel]);
    expect(await keptOn(channel, user)).toBe(0);
  });
});

describe("a user of whom very many channels keep something", () => {
  it("[CU34] has what is kept on one more channel deleted", async () => {
    Object.assign(cursorLimits, { channelsPerUserMax: 2 });
    const user = newUser();
    const channels = [await newKept(user), await newKept(user)];
    await told(user, channels);
    const third = await newKept(user);
    await told(user, [third]);
    expect(await keptOn(third, user)).toBe(0);
    for (const channel of channels) expect(await keptOn(channel, user)).toBe(1);
  });

  it("[CU30] is forgotten page by page, in several events", async () => {
    Object.assign(cursorLimits, { forgetCallsAtOnce: 1, forgetPagesAtOnce: 2 });
    const user = newUser();
    const channels: string[] = [];
    for (let count = 0; count < 5; count++) channels.push(await newKept(user));
    await told(user, channels);
    expect(await forget(user)).toBe('{"result":{}}');
    for (const channel of channels) expect(await keptOn(channel, user)).toBe(0);
  });
});
