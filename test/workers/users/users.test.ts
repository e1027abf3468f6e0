import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { columnText, hasTable } from "../../../src/sql.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { call, post, publish } from "../support/api-request.ts";
import { attachmentsOf, hibernate, rewriteAttachments } from "../support/attachments.ts";
import { blockObject } from "../support/block-object.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, variants } from "../support/variant.ts";
import { writeRegistrations } from "./written-registrations.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { limits } from "../../../src/limits.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { patience } from "../../support/patience.ts";

afterEach(() => {
  watchedRelay.orderFault = undefined;
});

/** A user whom no other test has. */
const newUser = () => `user-${crypto.randomUUID()}`;
const homeOf = (user: string) => env.USERS.getByName(homeName(user));
const done = { status: 200, body: '{"result":{}}' };

/** The objects that hold connections of a user, as the user's home knows them. */
function holdersOf(user: string): Promise<readonly string[]> {
  return runInDurableObject<UsersObject, readonly string[]>(homeOf(user), ({ sql, host }) => {
    host.writeRegistrations();
    const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'holder'");
    if (table === undefined) return [];
    const rows = sql.rows("SELECT holder FROM holder WHERE user = ?", user);
    return rows.map((row) => columnText(row, "holder"));
  });
}

/** So many other users of a home. */
function usersOfHome(home: string, count: number): readonly string[] {
  const found: string[] = [];
  while (found.length < count) {
    const user = newUser();
    if (homeName(user) === home) found.push(user);
  }
  return found;
}

/** A user whose home has written all registrations: with few homes, it may have the user of another test. */
async function userOfQuietHome(): Promise<string> {
  for (;;) {
    const user = newUser();
    const isQuiet = await runInDurableObject<UsersObject, boolean>(
      homeOf(user),
      ({ sql }) =>
        !hasTable(sql, "unwritten_holder") ||
        sql.rows("SELECT holder FROM unwritten_holder").length === 0,
    );
    if (isQuiet) return user;
  }
}

/** Has the home of a user sweep as if a week had passed. */
async function sweepNow(user: string): Promise<void> {
  const home = homeOf(user);
  await runInDurableObject<UsersObject, void>(home, ({ sql, host }) => {
    host.writeRegistrations();
    sql.run("UPDATE sweep SET due = 1");
  });
  await hibernate(home);
  expect(await runDurableObjectAlarm(home)).toBe(true);
}

describe.each(variants)("orders for a user's connections on $name", (variant) => {
  /** Lets the objects stay or evicts them, the user's home included. */
  const pause = async (channel: string, user: string): Promise<void> => {
    await variant.betweenSteps(channel);
    if (!variant.name.endsWith("evicted")) return;
    // A home falls asleep when it has written its registrations.
    await writeRegistrations(user);
    await hibernate(homeOf(user));
  };

  it("[U1] disconnect ends all of them before it is answered, and nobody else's", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const sockets = [
      await variant.subscribe(channel, ada),
      await variant.subscribe(channel, ada),
      await variant.connect(channel, ada),
    ];
    const other = await variant.subscribe(channel, bob);
    await pause(channel, ada);
    expect(await call("disconnect", { user: ada })).toStrictEqual(done);
    for (const socket of sockets) {
      expect(await socket.closed).toStrictEqual({ code: 3503, reason: "force disconnect" });
    }
    await pause(channel, ada);
    await publish(channel, 1);
    expect((await other.unread()).join()).toContain('"data":1,"offset":1');
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    expect(await holdersOf(ada)).toStrictEqual([]);
    // A disconnect bars nobody.
    const again = await variant.connect(channel, ada);
    expect(await again.unread()).toStrictEqual([]);
    expect(await holdersOf(ada)).toHaveLength(1);
  });

  it("[U15] the sweep of a home forgets who has left, and nobody else", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const [left, stays] = [
      await variant.connect(channel, ada),
      await variant.connect(channel, bob),
    ];
    await pause(channel, bob);
    left.close();
    await left.closed;
    for (const user of [ada, bob]) await sweepNow(user);
    expect(await holdersOf(ada)).toStrictEqual([]);
    expect(await holdersOf(bob)).toHaveLength(1);
    await pause(channel, bob);
    // The object registers a user who comes back, and an order finds both.
    const again = await variant.connect(channel, ada);
    await pause(channel, ada);
    for (const user of [ada, bob]) expect(await call("disconnect", { user })).toStrictEqual(done);
    expect((await again.closed).code).toBe(3503);
    expect((await stays.closed).code).toBe(3503);
  });

  it("[U2] unsubscribe ends the subscription and says so, to all of them", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const other = await variant.subscribe(channel, bob);
    const [one, two] = [await variant.subscribe(channel, ada), await variant.connect(channel, ada)];
    await one.unread();
    await other.unread();
    await pause(channel, ada);
    expect(await call("unsubscribe", { user: ada, channel })).toStrictEqual(done);
    const told = `{"push":{"channel":"${channel}","unsubscribe":{"code":2000,"reason":"server unsubscribe"}}}`;
    expect(await one.line()).toBe(told);
    expect(await two.line()).toBe(told);
    await pause(channel, ada);
    await publish(channel, 1);
    expect(await one.unread()).toStrictEqual([]);
    expect(await two.unread()).toStrictEqual([]);
    const heard = (await other.unread()).join();
    expect(heard).toContain('"leave"');
    expect(heard).toContain('"data":1');
    // The subscription is over, and the client may make another.
    expect((await one.ask({ id: 9, subscribe: { channel } })).subscribe).toBeDefined();
  });

  it("[U7] [U35] subscribe begins on all of them before it is answered, and recovers", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const { epoch } = await publish(channel, 1);
    await publish(channel, 2);
    const [one, two] = [await variant.connect(channel, user), await variant.connect(channel, user)];
    await pause(channel, user);
    const recover_since = { epoch, offset: 1 };
    const request = { user, channel, recover_since, info: { by: "backend" } };
    expect(await call("subscribe", request)).toStrictEqual(done);
    await publish(channel, 3);
    for (const socket of [one, two]) {
      expect(await socket.line()).toBe(
        `{"push":{"channel":"${channel}","subscribe":{"recoverable":true,"epoch":"${epoch}","offset":1,"positioned":true}}}`,
      );
      const offsets = (await socket.unread()).flatMap(
        (line) => /"offset":(\d+)/.exec(line)?.[1] ?? [],
      );
      expect(offsets).toStrictEqual(["2", "3"]);
    }
    await pause(channel, user);
    expect(await call("subscribe", request)).toStrictEqual(done);
    expect((await call("presence", { channel })).body).toContain('"chan_info":{"by":"backend"}');
    await publish(channel, 4);
    for (const socket of [one, two]) {
      const lines = await socket.unread();
      expect(lines.join()).toContain('"data":4,"offset":4');
      expect(lines.join()).not.toContain('"subscribe"');
    }
    expect(await call("unsubscribe", { user, channel })).toStrictEqual(done);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
  });

  it("[U8] refresh changes when they end, and what others see of them", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.subscribe(channel, user, { exp: secondsFromNow(60) });
    await socket.unread();
    await pause(channel, user);
    expect(await call("refresh", { user, info: { n: 1 } })).toStrictEqual(done);
    await pause(channel, user);
    const [saved] = await attachmentsOf(variant.place.holder(channel));
    expect(saved?.claims).toStrictEqual({ user, expireAtSeconds: 0, info: '{"n":1}' });
    expect((await call("presence", { channel })).body).toContain('"conn_info":{"n":1}');
    expect(await call("refresh", { user, expired: true })).toStrictEqual(done);
    expect(await socket.closed).toStrictEqual({ code: 3005, reason: "connection expired" });
  });

  it("[U9] block_user ends all of them for good and lets none back in, until unblock_user", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const socket = await variant.subscribe(channel, ada);
    const other = await variant.connect(channel, bob);
    await pause(channel, ada);
    expect(await call("block_user", { user: ada })).toStrictEqual(done);
    const refused = { code: 3507, reason: "permission denied" };
    expect(await socket.closed).toStrictEqual(refused);
    await pause(channel, ada);
    const again = await variant.open(channel);
    again.send(
      { id: 1, connect: { token: await token({ sub: ada }) } },
      { id: 2, subscribe: { channel } },
    );
    expect(await again.closed).toStrictEqual(refused);
    expect(await again.rest()).toStrictEqual([]);
    expect(await other.unread()).toStrictEqual([]);
    expect(await call("unblock_user", { user: ada })).toStrictEqual(done);
    await pause(channel, ada);
    await variant.connect(channel, ada);
  });

  it("[U6] names an anonymous connection by its ID, which costs no registration", async () => {
    const channel = newChannel("room");
    const [one, two] = [await variant.connect(channel, ""), await variant.connect(channel, "")];
    expect(one.client).toMatch(/^[-0-9a-f]{36}@(?:channel|gateway):/);
    expect(await holdersOf("")).toStrictEqual([]);
    await variant.betweenSteps(channel);
    // The region of this test's gateway exists only here, so the edge doesn't know it.
    if (!variant.place.oneChannel) return;
    expect(await call("disconnect", { client: one.client })).toStrictEqual(done);
    expect((await one.closed).code).toBe(3503);
    expect(await two.unread()).toStrictEqual([]);
    expect((await call("disconnect", {})).body).toContain('"code":108');
    expect(await call("disconnect", { client: "nobody" })).toStrictEqual(done);
  });
});

describe.each(awakeVariants)("users' homes and $place.name", (variant) => {
  it("[U5] are asked once for each user, and write one row", async () => {
    const channel = newChannel("room");
    const user = newUser();
    let neighbour = newUser();
    while (homeName(neighbour) !== homeName(user)) neighbour = newUser();
    // The first row of a home comes with its tables.
    await variant.connect(channel, neighbour);
    const counts = () =>
      runInDurableObject<UsersObject, { readonly rows: number; readonly calls: number }>(
        homeOf(user),
        ({ sql, callsTaken }) => ({ rows: sql.rowsWritten, calls: callsTaken }),
      );
    await writeRegistrations(user);
    const { rows, calls } = await counts();
    // The user comes alone. Those that come soon after another one share a commit.
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + limits.registrationsWriteMs);
    await variant.connect(channel, user);
    const socket = await variant.connect(channel, user);
    socket.close();
    await socket.closed;
    await variant.connect(channel, user);
    await variant.connect(channel, "");
    expect(await counts()).toStrictEqual({ rows: rows + 1, calls: calls + 1 });
    await hibernate(variant.place.holder(channel));
    await variant.connect(channel, user);
    expect(await counts()).toStrictEqual({ rows: rows + 1, calls: calls + 2 });
    vi.useRealTimers();
  });

  it("[U4] hold back what would reach a connection until they answer", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const other = await variant.subscribe(channel, newUser());
    await other.unread();
    const socket = await variant.open(channel);
    const unblock = blockObject(homeOf(user));
    socket.send(
      { id: 1, connect: { token: await token({ sub: user }) } },
      { id: 2, subscribe: { channel } },
      { id: 3, publish: { channel, data: "mine" } },
    );
    await vi.waitFor(async () => {
      const { body } = await call("presence_stats", { channel });
      expect(body).toContain('"num_clients":2');
    }, patience);
    await publish(channel, "not mine");
    expect(await other.line()).toContain("not mine");
    expect(socket.received).toBe(0);
    await unblock();
    expect(await socket.line()).toContain('{"id":1,"connect"');
    expect(await socket.line()).toContain('{"id":2,"subscribe"');
    const lines = (await socket.unread()).join();
    expect(lines).toContain('"data":"not mine"');
    expect(lines.indexOf('"data":"mine"')).toBeGreaterThan(lines.indexOf('"data":"not mine"'));
    expect(lines).toContain('{"id":3,"publish":{}}');
    const heard = (await other.unread()).join();
    expect(heard).toContain('"join"');
    expect(heard).toContain('"data":"mine"');
  });

  it("[U4] send a connection away that they can't answer, and leave the others alone", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const before = await variant.connect(channel, user);
    await hibernate(variant.place.holder(channel));
    const socket = await variant.open(channel);
    lowerLimits(limits, { registerAnswerMs: 300 });
    const unblock = blockObject(homeOf(user));
    socket.send({ id: 1, connect: { token: await token({ sub: user }) } });
    expect((await socket.closed).code).toBe(3004);
    await unblock();
    expect(await before.unread()).toStrictEqual([]);
  });

  it("[U3] keep an order through a crash, and repeat it until it is carried out", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user);
    watchedRelay.orderFault = lostCall;
    const answer = call("disconnect", { user });
    const kept = () =>
      runInDurableObject<UsersObject, number>(
        homeOf(user),
        ({ sql }) => sql.rows("SELECT 1 FROM user_order WHERE user = ?", user).length,
      );
    await vi.waitFor(async () => expect(await kept()).toBe(1), patience);
    await crashObject(homeOf(user));
    expect((await answer).body).toContain('"code":100');
    watchedRelay.orderFault = undefined;
    await hibernate(variant.place.holder(channel));
    await runDurableObjectAlarm(homeOf(user));
    expect((await socket.closed).code).toBe(3503);
    expect(await holdersOf(user)).toStrictEqual([]);
  });

  it("[U3] [U38] repeat an order whose answer was lost, and it names no connection that came later", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user);
    watchedRelay.orderFault = async (proceed) => {
      await proceed();
      return lostCall();
    };
    const answer = call("disconnect", { user });
    expect((await socket.closed).code).toBe(3503);
    const later = await variant.connect(channel, user);
    watchedRelay.orderFault = undefined;
    expect(await answer).toStrictEqual(done);
    expect(await later.unread()).toStrictEqual([]);
    expect(await holdersOf(user)).toHaveLength(1);
  });

  it("[U4] register connections of the release before, which knew no homes", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.subscribe(channel, user);
    await socket.unread();
    expect(await call("unsubscribe", { user, channel: "elsewhere" })).toStrictEqual(done);
    expect(await socket.line()).toContain("elsewhere");
    const holder = variant.place.holder(channel);
    const [before] = await attachmentsOf(holder);
    expect(before?.lastOrder).toBeGreaterThan(0);
    await runInDurableObject<UsersObject, void>(homeOf(user), ({ sql, host }) => {
      host.writeRegistrations();
      sql.run("DELETE FROM holder WHERE user = ?", user);
    });
    await rewriteAttachments(holder, (saved) => ({ ...saved, lastOrder: undefined }));
    await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1');
    expect(await holdersOf(user)).toHaveLength(1);
    const [registered] = await attachmentsOf(holder);
    expect(registered?.lastOrder).toBeGreaterThan(0);
    expect(await call("disconnect", { user })).toStrictEqual(done);
    expect((await socket.closed).code).toBe(3503);
  });
});

describe("an order that isn't carried out in time", () => {
  it("[U3] is answered 503 with Retry-After, and carried out later", async () => {
    const [variant] = awakeVariants;
    if (variant === undefined) throw new Error("there are no variants");
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user);
    watchedRelay.orderFault = lostCall;
    lowerLimits(limits, { orderAnswerMs: 300 });
    const { status, headers } = await post("/api/disconnect", JSON.stringify({ user }));
    expect(status).toBe(503);
    expect(headers.get("Retry-After")).toBe("5");
    watchedRelay.orderFault = undefined;
    await hibernate(homeOf(user));
    await runDurableObjectAlarm(homeOf(user));
    expect((await socket.closed).code).toBe(3503);
  });
});

describe.each(awakeVariants)(
  "a home that crashes before it has written, and $place.name",
  (variant) => {
    it("[U41] [U42] knows by the object's mark whom to order", async () => {
      const channel = newChannel("room");
      const first = await userOfQuietHome();
      const home = homeOf(first);
      // Those that come soon after another one are in memory only.
      const users = [first, ...usersOfHome(homeName(first), 2)];
      const sockets: TestSocket[] = [];
      for (const user of users) sockets.push(await variant.connect(channel, user));
      const count = (table: string) =>
        runInDurableObject<UsersObject, number>(home, ({ sql }) => {
          const [row] = sql.rows(`SELECT COUNT(*) AS count FROM ${table}`);
          return Number(row?.["count"]);
        });
      expect(await count("unwritten_holder")).toBe(1);
      const before = await runInDurableObject<UsersObject, UsersObject>(
        home,
        (instance) => instance,
      );
      lowerLimits(limits, { unsureAskMs: 50 });
      await hibernate(home);
      for (const user of users) expect(await call("disconnect", { user })).toStrictEqual(done);
      for (const socket of sockets) expect((await socket.closed).code).toBe(3503);
      expect(
        await runInDurableObject<UsersObject, boolean>(home, (instance) => instance === before),
      ).toBe(false);
    });
  },
);
