import { describe, expect, it } from "vitest";
import { columnText } from "../../../src/sql.ts";
import type { UserOrder } from "../../../src/contract/user-order.ts";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { Home, type OrderDelivery } from "../../../src/users/home.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const [eu, us] = ["gateway:eu/0", "gateway:us/0"];
const disconnect: UserOrder = { method: "disconnect", code: disconnectCodes.forceDisconnect };

/** Gives an order, and the deliveries to be made. */
function order(home: Home, user: string): readonly OrderDelivery[] {
  const taken = home.order(user, [disconnect], 1_000);
  if (taken.outcome !== "taken") throw new Error(taken.outcome);
  return taken.deliveries;
}

/** The objects that are told. */
const told = (deliveries: readonly OrderDelivery[]) => deliveries.map(({ holder }) => holder);

/** A home in which a registration was just written, so that later ones wait. */
function busyHome(sql: NodeSql): Home {
  const home = new Home(sql);
  home.register(us, ["first"], 999);
  return home;
}

const rowsOf = (sql: NodeSql) =>
  sql.rows("SELECT user, holder FROM holder").map((row) => columnText(row, "user"));

const marksOf = (sql: NodeSql) =>
  sql.rows("SELECT holder FROM unwritten_holder").map((row) => columnText(row, "holder"));

describe("registrations that a home hasn't written", () => {
  it("[U42] cost a row for each holder, and are written together", () => {
    const sql = new NodeSql();
    const home = busyHome(sql);
    home.register(eu, ["ada"], 1_000);
    home.register(eu, ["bob", "eve"], 1_000);
    expect([rowsOf(sql), marksOf(sql), home.hasUnwritten]).toEqual([["first"], [eu], true]);
    home.write(1_000);
    expect([rowsOf(sql), marksOf(sql), home.hasUnwritten]).toEqual([
      ["ada", "bob", "eve", "first"],
      [],
      false,
    ]);
    // An object that was evicted registers its users again.
    home.register(eu, ["ada"], 1_001);
    expect([marksOf(sql), home.hasUnwritten]).toEqual([[eu], true]);
    home.write(1_001);
    expect([rowsOf(sql), marksOf(sql)]).toEqual([["ada", "bob", "eve", "first"], []]);
  });

  it("[U42] are written in statements of many, and each once", () => {
    const sql = new NodeSql();
    const home = busyHome(sql);
    const users = Array.from({ length: 100 }, (_, index) => `user${index}`);
    home.register(eu, users, 1_000, [5, ...users.slice(1).map(() => 0)]);
    home.register(eu, ["user0"], 1_000, [3]);
    home.write(1_000);
    expect(rowsOf(sql).toSorted()).toEqual(["first", ...users].toSorted());
    const [row] = sql.rows("SELECT until FROM holder WHERE user = 'user0'");
    expect(row).toEqual({ until: 5 });
  });

  it("[U42] [B1] are written at once when they are many", () => {
    const sql = new NodeSql();
    const home = busyHome(sql);
    const users = Array.from(
      { length: limits.registrationsUnwrittenMax },
      (_, index) => `u${index}`,
    );
    home.register(eu, users.slice(1), 1_000);
    expect(rowsOf(sql)).toEqual(["first"]);
    home.register(eu, users.slice(0, 1), 1_000);
    expect(rowsOf(sql)).toHaveLength(users.length + 1);
  });

  it("[U3] [U31] count for orders like others", () => {
    const home = busyHome(new NodeSql());
    home.register(eu, ["ada"], 1_000);
    const [delivery, ...others] = order(home, "ada");
    if (delivery === undefined) throw new Error("no delivery");
    expect([delivery.holder, others]).toEqual([eu, []]);
    home.answered(delivery, { left: false });
    home.write(1_000);
    expect(order(home, "ada")).toEqual([]);
  });

  it("[U41] make their holders unsure after a crash: they get all orders until they have said whom they hold", () => {
    const sql = new NodeSql();
    const before = busyHome(sql);
    before.register(us, ["eve"], 1_000);
    before.write(1_000);
    before.register(eu, ["ada"], 1_001);
    const home = new Home(sql);
    expect(home.unsure).toEqual([eu]);
    expect(told(order(home, "ada"))).toEqual([eu]);
    const [toUs, toEu] = order(home, "eve");
    if (toUs === undefined || toEu === undefined) throw new Error("no deliveries");
    expect([toUs.holder, toEu.holder]).toEqual([us, eu]);
    home.answered(toEu, { left: false });
    expect(told(order(home, "eve"))).toEqual([us]);
    // It registers eve, and is asked meanwhile: the answer may be older.
    home.register(eu, ["eve"], 1_000);
    home.resolve(eu, { keys: ["ada"], ends: [0] }, 2_000);
    expect([home.unsure, marksOf(sql)]).toEqual([[], []]);
    const after = new Home(sql);
    expect([told(order(after, "ada")), told(order(after, "bob"))]).toEqual([[eu], []]);
    expect(told(order(after, "eve"))).toEqual([eu, us]);
  });

  it("[U41] stay unsure through further crashes", () => {
    const sql = new NodeSql();
    busyHome(sql).register(eu, ["ada"], 1_000);
    const second = new Home(sql);
    second.register(us, ["bob"], 1_000);
    second.register(us, ["eve"], 1_001);
    second.write(1_001);
    expect(marksOf(sql)).toEqual([eu]);
    expect(told(order(new Home(sql), "ada"))).toEqual([eu]);
  });
});
