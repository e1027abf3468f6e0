import { describe, expect, it } from "vitest";
import type { UserOrder } from "../../../src/contract/user-order.ts";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { type OrderDelivery, Home } from "../../../src/users/home.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const disconnect: UserOrder = { method: "disconnect", code: disconnectCodes.forceDisconnect };
const unsubscribe: UserOrder = { method: "unsubscribe", channel: "news" };
const [eu, us] = ["gateway:eu/0", "gateway:us/0"];
const gone = { left: false };

/** Gives orders, and the deliveries to be made. */
function order(
  home: Home,
  user: string,
  ...orders: readonly UserOrder[]
): readonly OrderDelivery[] {
  const taken = home.order(user, orders, 1_000);
  if (taken.outcome !== "taken") throw new Error(taken.outcome);
  return taken.deliveries;
}

/** Makes subscription tokens for a channel invalid. */
const named = (channel: string, expireAtSeconds = 0): UserOrder => ({
  method: "invalidate_user_tokens",
  channel,
  issuedBeforeSeconds: 1,
  expireAtSeconds,
});

/** The numbers and methods of a delivery's orders. */
const ordersOf = ({ orders }: OrderDelivery) =>
  orders.map((one) => `${one.number} ${one.order.method}`);

describe("a user's home", () => {
  it("[U3] sends an order to all holders of the user, and to nobody else", () => {
    const home = new Home(new NodeSql());
    expect(order(home, "ada", disconnect)).toStrictEqual([]);
    home.register(eu, ["ada", "bob"], 1_000);
    home.register(us, ["ada"], 1_000);
    const deliveries = order(home, "ada", disconnect);
    expect(deliveries.map(({ holder }) => holder)).toStrictEqual([eu, us]);
    expect(deliveries.map(ordersOf)).toStrictEqual([["1 disconnect"], ["1 disconnect"]]);
    expect(order(home, "eve", disconnect)).toStrictEqual([]);
  });

  it("[U3] has carried an order out when all holders have answered, in whatever order", () => {
    const home = new Home(new NodeSql());
    home.register(eu, ["ada"], 1_000);
    home.register(us, ["ada"], 1_000);
    const [first, second] = order(home, "ada", disconnect);
    if (first === undefined || second === undefined) throw new Error("two deliveries are missing");
    home.answered(second, gone);
    expect(home.isDone([1])).toBe(false);
    home.answered(first, undefined);
    home.answered(first, { left: true, failed: true });
    expect(home.isDone([1])).toBe(false);
    const again = home.again(first);
    expect(again?.holder).toBe(eu);
    if (again !== undefined) home.answered(again, gone);
    expect(home.isDone([1])).toBe(true);
    expect(home.again(first)).toBeUndefined();
    expect(home.dueAtMs(1_000)).toBe(home.sweep.dueAtMs(1_000));
  });

  it("[U3] keeps orders through a crash, and never gives a number twice", () => {
    const sql = new NodeSql();
    const before = new Home(sql);
    before.register(eu, ["ada"], 1_000);
    order(before, "ada", disconnect);
    const home = new Home(sql);
    const [repeated] = home.deliveries();
    if (repeated === undefined) throw new Error("the order is lost");
    expect(ordersOf(repeated)).toStrictEqual(["1 disconnect"]);
    home.answered(repeated, { left: true });
    const after = new Home(sql);
    expect(after.deliveries()).toStrictEqual([]);
    expect(after.register(eu, ["ada"], 1_000)).toStrictEqual({ lastOrder: 1 });
    expect(order(after, "ada", disconnect).map(ordersOf)).toStrictEqual([["2 disconnect"]]);
    expect(sql.rows("SELECT number FROM user_order")).toHaveLength(1);
  });

  it("[B1] [U3] sends so many orders in one call, and the others in the next one", () => {
    const home = new Home(new NodeSql());
    home.register(eu, ["ada"], 1_000);
    const orders = Array.from({ length: limits.ordersPerCallMax + 1 }, () => unsubscribe);
    const [first] = order(home, "ada", ...orders);
    if (first === undefined) throw new Error("no delivery");
    expect(first.orders).toHaveLength(limits.ordersPerCallMax);
    home.answered(first, { left: true });
    const next = home.again(first);
    expect(next?.orders.map(({ number }) => number)).toStrictEqual([orders.length]);
  });

  it("[U31] forgets a holder without connections of the user, unless it has registered since", () => {
    const home = new Home(new NodeSql());
    home.register(eu, ["ada"], 1_000);
    const [first] = order(home, "ada", disconnect);
    if (first === undefined) throw new Error("no delivery");
    home.register(eu, ["ada"], 1_000);
    home.answered(first, gone);
    const [second] = order(home, "ada", disconnect);
    if (second === undefined) throw new Error("the holder is forgotten too early");
    home.answered(second, gone);
    expect(order(home, "ada", disconnect)).toStrictEqual([]);
  });

  it("[U21] forgets a holder that is asked and has none left, unless it has registered since", () => {
    const home = new Home(new NodeSql());
    expect(home.questions("ada")).toStrictEqual([]);
    home.register(eu, ["ada"], 1_000);
    home.register(us, ["ada", "bob"], 1_000);
    const [first, second] = home.questions("ada");
    if (first === undefined || second === undefined) throw new Error("two questions are missing");
    expect([first.holder, second.holder]).toStrictEqual([eu, us]);
    home.register(eu, ["ada"], 1_000);
    home.answered(first, gone);
    home.answered(second, gone);
    const [again, ...others] = home.questions("ada");
    expect([again?.holder, others]).toStrictEqual([eu, []]);
    if (again === undefined) throw new Error("the holder is forgotten too early");
    home.answered(again, undefined);
    expect(home.questions("ada")).toHaveLength(1);
    expect(home.questions("bob")).toHaveLength(1);
  });

  it("[U9] refuses a blocked user until the block ends, or until it is taken back", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    home.register(eu, ["ada", "bob"], 1_000);
    const [delivery] = order(home, "ada", { method: "block_user", expireAtSeconds: 2 });
    if (delivery === undefined) throw new Error("no delivery");
    expect(delivery.orders).toStrictEqual([
      { number: 1, order: { method: "disconnect", code: disconnectCodes.permissionDenied } },
    ]);
    home.answered(delivery, gone);
    const blocked = { lastOrder: 1, blocked: ["ada"] };
    expect(new Home(sql).register(us, ["bob", "ada"], 1_999)).toStrictEqual(blocked);
    expect(order(home, "ada", disconnect)).toStrictEqual([]);
    expect(home.register(us, ["ada"], 2_000)).toStrictEqual({ lastOrder: 1 });
    // Nobody is connected: nothing has to be carried out, but the block holds, for ever.
    expect(order(home, "eve", { method: "block_user", expireAtSeconds: 0 })).toStrictEqual([]);
    expect(new Home(sql).register(us, ["eve"], 1e12).blocked).toStrictEqual(["eve"]);
    expect(order(home, "eve", { method: "unblock_user" })).toStrictEqual([]);
    expect(home.register(us, ["eve"], 1_000).blocked).toBeUndefined();
    expect(order(new Home(new NodeSql()), "eve", { method: "unblock_user" })).toStrictEqual([]);
  });

  it("[U28] does nothing for an order that has ended, and keeps what stands", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    const key = tokenKey("t1");
    home.register(eu, ["ada", key], 1_000, [0, 0]);
    const [ended, later] = [{ expireAtSeconds: 1 }, { expireAtSeconds: 9 }];
    const issued = { channel: "", issuedBeforeSeconds: 0 };
    order(home, "eve", { method: "block_user", ...later });
    for (const [user, one] of [
      ["ada", { method: "block_user", ...ended }],
      ["eve", { method: "block_user", ...ended }],
      ["ada", { method: "invalidate_user_tokens", ...issued, ...ended }],
      [key, { method: "revoke_token", ...ended }],
    ] as const)
      expect(order(home, user, one).flatMap(ordersOf)).toStrictEqual([]);
    const stands = { lastOrder: 0, blocked: ["eve"] };
    expect(new Home(sql).register(us, ["ada", "eve", key], 1_000)).toStrictEqual(stands);
  });

  it("[U10] [U34] refuses a revoked token until the revocation ends, and sends it to those that hold it", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    const key = tokenKey("t1");
    home.register(eu, [key, "ada"], 1_000, [0, 0]);
    const revocation: UserOrder = { method: "revoke_token", expireAtSeconds: 2 };
    const [delivery, ...others] = order(home, key, revocation);
    expect(others).toStrictEqual([]);
    expect(delivery?.orders).toStrictEqual([{ number: 1, order: revocation }]);
    if (delivery !== undefined) home.answered(delivery, gone);
    const again = new Home(sql);
    expect(again.register(us, [key, "ada"], 1_999).blocked).toStrictEqual([key]);
    expect(order(again, key, revocation)).toStrictEqual([]);
    expect(again.register(us, [key], 2_000).blocked).toBeUndefined();
    expect(order(again, key, { ...revocation, expireAtSeconds: 0 })).toHaveLength(1);
    expect(new Home(sql).register(us, [key], 1e12).blocked).toStrictEqual([key]);
  });

  it("[U10] [U32] forgets registrations of tokens after their ends, and no others", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    const keys = ["t1", "t2", "t3"].map(tokenKey);
    home.register(eu, [...keys, "ada"], 1_000, [10, 20, 0, 0]);
    // A later end replaces an earlier one, and not the other way round.
    home.register(eu, keys, 1_000, [20, 10, 5]);
    home.register(us, keys, 1_000, [10, 10, 10]);
    const atMs = 15_000;
    const holders = () => sql.rows("SELECT 1 FROM holder").length;
    expect(holders()).toBe(7);
    home.register(eu, ["ada"], 20_000, []);
    expect(holders()).toBe(2);
    expect(order(home, keys[2] ?? "", disconnect)).toHaveLength(1);
    new Home(sql).register(eu, ["bob"], atMs);
    expect(holders()).toBe(3);
  });

  it("[U10] looks at some registrations at a time, and at all of them in turn", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    const keys = Array.from({ length: 2.5 * limits.homePruneRows }, (_, index) =>
      tokenKey(`t${index}`),
    );
    home.register(
      eu,
      keys,
      1_000,
      keys.map(() => 10),
    );
    const left: number[] = [];
    for (let turn = 1; turn <= 4; turn++) {
      home.register(us, ["ada"], 20_000 + turn * limits.homePruneMs);
      left.push(sql.rows("SELECT 1 FROM holder WHERE holder = ?", eu).length);
    }
    expect(left).toStrictEqual([1_500, 500, 0, 0]);
  });

  it("[U10] looks at none for a while once all were looked at", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    const atMs = 20_000;
    home.register(eu, ["ada"], atMs);
    home.register(eu, [tokenKey("t1")], atMs, [10]);
    home.write(atMs);
    const tokensAt = (nowMs: number): number => {
      home.register(us, ["ada"], nowMs);
      return sql.rows("SELECT 1 FROM holder WHERE user = ?", tokenKey("t1")).length;
    };
    expect(tokensAt(atMs + limits.homePrunePauseMs - 1)).toBe(1);
    expect(tokensAt(atMs + limits.homePrunePauseMs)).toBe(0);
  });

  it("[U11] [U30] keeps what makes a user's tokens invalid, and says so to all that register the user", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    home.register(eu, ["ada", "bob"], 1_000);
    const now = { channel: "", issuedBeforeSeconds: 0, expireAtSeconds: 0 };
    const [delivery] = order(home, "ada", { method: "invalidate_user_tokens", ...now });
    const resolved = { ...now, issuedBeforeSeconds: 1 };
    expect(delivery?.orders).toStrictEqual([
      { number: 1, order: { method: "invalidate_user_tokens", ...resolved } },
    ]);
    const news = { channel: "news", issuedBeforeSeconds: 50, expireAtSeconds: 60 };
    order(home, "ada", { method: "invalidate_user_tokens", ...news });
    const user = "ada";
    const all = [
      { user, ...resolved },
      { user, ...news },
    ];
    const told = (nowMs: number) => new Home(sql).register(us, ["bob", "ada"], nowMs).invalidations;
    expect(told(59_999)).toStrictEqual(all);
    expect(told(60_000)).toStrictEqual(all.slice(0, 1));
    expect(new Home(sql).register(us, ["bob"], 1_000).invalidations).toBeUndefined();
  });

  it("[U11] keeps of two invalidations the one that says more, and both if neither does", () => {
    const sql = new NodeSql();
    const home = new Home(sql);
    const kept = (...all: readonly (readonly [before: number, until: number])[]) => {
      const user = JSON.stringify(all);
      for (const [issuedBeforeSeconds, expireAtSeconds] of all) {
        const one = { channel: "", issuedBeforeSeconds, expireAtSeconds };
        order(home, user, { method: "invalidate_user_tokens", ...one });
      }
      return home
        .register(us, [user], 1_000)
        .invalidations?.map((one) => [one.issuedBeforeSeconds, one.expireAtSeconds]);
    };
    expect(kept([5, 9], [6, 9])).toStrictEqual([[6, 9]]);
    expect(kept([6, 9], [5, 9])).toStrictEqual([[6, 9]]);
    expect(kept([5, 9], [6, 0])).toStrictEqual([[6, 0]]);
    expect(kept([5, 0], [6, 9])).toStrictEqual([
      [5, 0],
      [6, 9],
    ]);
  });

  it("[B1] [U30] keeps no more invalidations of a user than it tells, and none of those that don't fit", () => {
    const home = new Home(new NodeSql());
    const names = Array.from({ length: limits.invalidationsPerUserMax - 1 }, (_, n) => `c${n}`);
    const give = (...orders: readonly UserOrder[]) => home.order("ada", orders, 1_000).outcome;
    expect(give(...names.map((name) => named(name)))).toBe("taken");
    expect(give(named("more"), named("yet more"))).toBe("limit-exceeded");
    expect(give(named("more", 2))).toBe("taken");
    expect(give(named("yet more"))).toBe("limit-exceeded");
    expect(home.order("ada", [named("yet more")], 2_000).outcome).toBe("taken");
    expect(home.order("bob", [named("more")], 1_000).outcome).toBe("taken");
    expect(give(disconnect)).toBe("taken");
  });

  it("[U9] blocks users of a home that never had one", () => {
    const sql = new NodeSql();
    order(new Home(sql), "ada", { method: "block_user", expireAtSeconds: 0 });
    expect(new Home(sql).register(us, ["ada"], 1_000).blocked).toStrictEqual(["ada"]);
  });

  it("[B1] takes no more orders than it can keep, and none of those that don't fit", () => {
    const home = new Home(new NodeSql());
    home.register(eu, ["ada"], 1_000);
    const many = Array.from({ length: limits.ordersKeptMax }, () => unsubscribe);
    expect(home.order("ada", many, 1_000).outcome).toBe("taken");
    expect(home.order("ada", [disconnect], 1_000).outcome).toBe("full");
    expect(home.order("eve", [disconnect], 1_000).outcome).toBe("taken");
  });

  it("[U3] repeats orders after pauses that grow up to a bound", () => {
    const home = new Home(new NodeSql());
    home.register(eu, ["ada"], 1_000);
    order(home, "ada", disconnect);
    expect(home.dueAtMs(1_000)).toBe(1_000 + limits.orderAnswerMs);
    expect(home.dueAtMs(101_000)).toBe(201_000);
    expect(home.dueAtMs(5e8)).toBe(5e8 + limits.orderRetryMsMax);
  });

  it("[V1] is a function of the user that never changes", () => {
    expect(["ada", "42", "", "Ünïcödé", "user-1"].map(homeName)).toStrictEqual([
      "59",
      "3",
      "5",
      "54",
      "52",
    ]);
    const homes = new Set(Array.from({ length: 2_000 }, (_, index) => homeName(`user${index}`)));
    expect(homes.size).toBe(limits.homes);
  });
});
