import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { changeLimits } from "../../../src/features/changes/limits.ts";
import { limits } from "../../../src/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, gatewayVariants, variants } from "../support/variant.ts";
import { watchedRelay } from "../support/watched-relay.ts";

const changed = {
  name: "changed",
  history_size: 20,
  history_ttl: "5m",
  allow_change: true,
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  allow_history_for_client: true,
  force_positioning: true,
  force_recovery: true,
};
configure({
  ...testConfig,
  channel: {
    ...testConfig.channel,
    namespaces: [
      ...testConfig.channel.namespaces,
      changed,
      { ...changed, name: "authored", erasable_by_user: true },
    ],
  },
});

const before: object = { ...changeLimits };
const beforeLimits = { ...limits };
const getHome = env.USERS.getByName.bind(env.USERS);
afterEach(() => {
  watchedRelay.deliveryFault = undefined;
  Object.defineProperties(changeLimits, Object.getOwnPropertyDescriptors(before));
  Object.assign(limits, beforeLimits);
  env.USERS.getByName = getHome;
});

const erase = async (channel: string, what: object): Promise<object> => {
  const answer: object = JSON.parse((await call("erase", { channel, ...what })).body);
  return answer;
};

/** A client publishes, and gets the publication and the reply. */
async function publishBy(socket: TestSocket, channel: string, data: string): Promise<void> {
  socket.send({ id: 9, publish: { channel, data } });
  expect(await socket.line()).toContain(data);
  expect(await socket.line()).toContain('"id":9');
}

describe.each(variants)("an erasure with subscribers on $name", (variant) => {
  it("[ED14] is heard of once, and nobody who comes later gets what was erased", async () => {
    const channel = newChannel("changed");
    const live = await variant.subscribe(channel, "ada");
    await publishBy(live, channel, "secret");
    await variant.betweenSteps(channel);
    const { epoch } = await publish(channel, "other");
    expect(await live.line()).toContain("other");
    await variant.betweenSteps(channel);
    expect(await erase(channel, { offset: 1 })).toStrictEqual({
      result: { offset: 3, epoch, erased: 1 },
    });
    expect(await live.line()).toContain('"dormouse.erase":"1"');
    expect(await live.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
    const late = await variant.connect(channel, "bob");
    const since = { recover: true, epoch, offset: 0 };
    late.send({ id: 2, subscribe: { channel, ...since } });
    const recovered = await late.line();
    expect(recovered).toContain('"dormouse.erased":"3"');
    late.send({ id: 4, history: { channel, limit: -1 } });
    const history = await late.line();
    const { body } = await call("history", { channel, limit: -1 });
    for (const read of [recovered, history, body]) expect(read).not.toMatch(/secret|"user":"ada"/);
  });
});

describe.each(awakeVariants)("an erasure of a user on $name", (variant) => {
  it("[ED16] is carried out in slices, and answered once", async () => {
    Object.assign(changeLimits, { erasedAtOnce: 2 });
    const channel = newChannel("changed");
    const socket = await variant.subscribe(channel, "ada");
    for (let number = 1; number <= 5; number++)
      await publishBy(socket, channel, `secret ${number}`);
    await publish(channel, "other");
    expect(await erase(channel, { user: "ada" })).toMatchObject({ result: { erased: 5 } });
    const { body } = await call("history", { channel, limit: -1 });
    expect(body).not.toMatch(/secret|"user":"ada"/);
    expect(body).toContain("other");
    for (const erased of ["1-2", "3-4", "5"])
      expect(body).toContain(`"dormouse.erase":"${erased}"`);
  });
});

describe.each(gatewayVariants.slice(0, 1))("an erasure with a gateway that fails", (variant) => {
  it("[ED16] isn't acknowledged before the gateway has taken it, and is ended by the next request", async () => {
    Object.assign(changeLimits, { erasureAnswerMs: 50 });
    const channel = newChannel("changed");
    const live = await variant.subscribe(channel, "ada");
    await publish(channel, "secret");
    expect(await live.line()).toContain("secret");
    watchedRelay.deliveryFault = lostCall;
    expect(await erase(channel, { offset: 1 })).toMatchObject({ error: { code: 100 } });
    watchedRelay.deliveryFault = undefined;
    Object.assign(changeLimits, { erasureAnswerMs: 8_000 });
    expect(await erase(channel, { offset: 1 })).toMatchObject({ result: { erased: 0 } });
    expect(await live.line()).toContain('"dormouse.erase":"1"');
  });
});

const channelOf = (name: string) => env.CHANNELS.getByName(name);
const homeOf = (user: string) => getHome(homeName(userKey(user)));
const newUser = () => `user-${crypto.randomUUID()}`;

/** The rows of a table of an object that name a user. */
function rowsNaming(object: DurableObjectStub, table: string, user: string): Promise<number> {
  return runInDurableObject<DurableObject, number>(object, (_, { storage: { sql } }) => {
    const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray();
    if (exists.length === 0) return 0;
    return sql.exec(`SELECT 1 FROM ${table} WHERE user = ?`, user).toArray().length;
  });
}

/** Until the user's home knows that the user has published on the channel. */
async function reported(channel: string, user: string): Promise<void> {
  await expect.poll(() => rowsNaming(channelOf(channel), "untold_author", user)).toBe(0);
}

const forget = async (user: string): Promise<object> => {
  const answer: object = JSON.parse((await call("forget_user", { user, publications: true })).body);
  return answer;
};

const historyOf = async (channel: string) => (await call("history", { channel, limit: -1 })).body;

describe.each(variants)(
  "a user whose publications are forgotten, with sockets on $name",
  (variant) => {
    it("[ED18][ED19] has nothing left in any channel with the option when that is acknowledged", async () => {
      const user = newUser();
      const channels = [newChannel("authored"), newChannel("authored")];
      const without = newChannel("changed");
      for (const channel of [...channels, without]) {
        const socket = await variant.subscribe(channel, user);
        await publishBy(socket, channel, "secret");
        const other = await variant.connect(channel, "bob");
        await other.ask({ id: 3, publish: { channel, data: "other" } });
        await variant.betweenSteps(channel);
      }
      for (const channel of channels) await reported(channel, user);
      expect(await rowsNaming(homeOf(user), "author_channel", user)).toBe(2);
      // Only what is asked for is forgotten.
      expect(JSON.parse((await call("forget_user", { user })).body)).toStrictEqual({ result: {} });
      for (const channel of channels) expect(await historyOf(channel)).toContain("secret");
      const unsearched = expect.arrayContaining(["changed"]);
      expect(await forget(user)).toStrictEqual({ result: { unsearched } });
      for (const channel of channels) {
        const history = await historyOf(channel);
        expect(history).not.toMatch(new RegExp(`secret|${user}`));
        expect(history).toContain("other");
      }
      expect(await historyOf(without)).toContain("secret");
      expect(await rowsNaming(homeOf(user), "author_channel", user)).toBe(0);
      expect(JSON.stringify(await forget(user))).not.toContain("error");
    });
  },
);

describe.each(gatewayVariants.slice(0, 1))(
  "a user who is forgotten while objects are lost",
  (variant) => {
    async function published(user: string, count: number): Promise<string> {
      const channel = newChannel("authored");
      const socket = await variant.subscribe(channel, user);
      for (let number = 1; number <= count; number++)
        await publishBy(socket, channel, `secret ${number}`);
      return channel;
    }

    it("[ED18] is forgotten by the next instance of a channel that is lost in the middle", async () => {
      const user = newUser();
      const channel = await published(user, 6);
      await reported(channel, user);
      const found: { state?: DurableObjectState; instance?: DurableObject; left?: number } = {};
      await runInDurableObject<DurableObject, void>(channelOf(channel), (instance, state) => {
        Object.assign(found, { instance, state });
      });
      let slices = 0;
      Object.defineProperty(changeLimits, "erasedAtOnce", {
        configurable: true,
        get() {
          slices++;
          if (slices === 3) {
            const left = found.state?.storage.sql.exec(
              "SELECT 1 FROM publication WHERE data LIKE '%secret%'",
            );
            found.left = left?.toArray().length ?? 0;
            found.state?.abort("crashed by a test");
          }
          return 2;
        },
      });
      expect(JSON.stringify(await forget(user))).not.toContain("error");
      expect(found.left).toBe(2);
      await runInDurableObject<DurableObject, void>(channelOf(channel), (instance) => {
        expect(instance === found.instance).toBe(false);
      });
      expect(await historyOf(channel)).not.toContain("secret");
    });

    it("[ED18] is forgotten by the home's alarm, where a channel's gateway doesn't answer and both are lost", async () => {
      // Long enough for a home that takes the channel's error for an acknowledgement.
      Object.assign(limits, { orderAnswerMs: 1_000 });
      Object.assign(changeLimits, { erasureAnswerMs: 20 });
      const user = newUser();
      const channel = await published(user, 1);
      await reported(channel, user);
      watchedRelay.deliveryFault = lostCall;
      expect(await forget(user)).toMatchObject({ error: { code: 100 } });
      await crashObject(channelOf(channel));
      await crashObject(homeOf(user));
      watchedRelay.deliveryFault = undefined;
      Object.assign(changeLimits, { erasureAnswerMs: 8_000 });
      await expect
        .poll(async () => {
          await runDurableObjectAlarm(homeOf(user));
          return rowsNaming(homeOf(user), "author_channel", user);
        })
        .toBe(0);
      expect(await historyOf(channel)).not.toContain("secret");
    });

    it("[ED18] is forgotten on a channel whose report comes after that", async () => {
      env.USERS.getByName = (name, options) =>
        Object.defineProperty(getHome(name, options), "keepAuthors", { value: lostCall });
      const user = newUser();
      const channel = await published(user, 1);
      expect(JSON.stringify(await forget(user))).not.toContain("error");
      expect(await historyOf(channel)).toContain("secret");
      env.USERS.getByName = getHome;
      await crashObject(channelOf(channel));
      await runDurableObjectAlarm(channelOf(channel));
      await expect.poll(() => historyOf(channel)).not.toContain("secret");
      await expect.poll(() => rowsNaming(homeOf(user), "author_channel", user)).toBe(0);
    });

    it("[ED18] isn't told that all is gone, where there are too many channels", async () => {
      const max = cursorLimits.channelsPerUserMax;
      Object.assign(cursorLimits, { channelsPerUserMax: 1 });
      const user = newUser();
      const channels = [await published(user, 1), await published(user, 1)];
      for (const channel of channels) await reported(channel, user);
      expect(await forget(user)).toMatchObject({ result: { incomplete: true } });
      Object.assign(cursorLimits, { channelsPerUserMax: max });
      expect(await historyOf(channels[0] ?? "")).not.toContain("secret");
      expect(await historyOf(channels[1] ?? "")).toContain("secret");
    });
  },
);
