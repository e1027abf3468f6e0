import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { HoldersCheck } from "../../../src/users/holders-check.ts";
import { Home } from "../../../src/users/home.ts";
import { LocalUsers } from "../../../src/users/local-users.ts";
import { NodeSql } from "../../support/node-sql.ts";

const [eu, us] = ["gateway:eu/0", "gateway:us/0"];

/** A home, and what it tells of users. */
function tellingHome() {
  const told: string[] = [];
  const home = new Home(new NodeSql(), (user, isOnline) =>
    told.push(`${user} ${isOnline ? "on" : "off"}`),
  );
  return { home, told };
}

describe("a home that tells who is online", () => {
  it("[E11] tells of a user's first holder and last one, and of none between", () => {
    const { home, told } = tellingHome();
    home.register(eu, ["ada", "bob"], 1_000);
    home.register(us, ["ada"], 1_000);
    home.register(eu, ["ada"], 1_000);
    expect(told).toEqual(["ada on", "bob on"]);
    for (const question of home.questions(eu, ["ada", "bob", "eve"]))
      home.answered(question, { left: question.user === "bob" });
    expect(told).toEqual(["ada on", "bob on"]);
    for (const question of home.questions(us, ["ada"])) home.answered(question, { left: false });
    expect(told).toEqual(["ada on", "bob on", "ada off"]);
    home.register(us, ["ada"], 1_000);
    expect(told.at(-1)).toBe("ada on");
  });

  it("[E11] doesn't take a user for gone who has come back meanwhile, or of whom it heard nothing", () => {
    const { home, told } = tellingHome();
    home.register(eu, ["ada"], 1_000);
    const [question] = home.questions(eu, ["ada"]);
    home.register(eu, ["ada"], 1_000);
    if (question !== undefined) home.answered(question, { left: false });
    for (const again of home.questions(eu, ["ada"])) home.answered(again, undefined);
    expect(told).toEqual(["ada on"]);
    expect([...home.usersByHolder]).toEqual([[eu, ["ada"]]]);
    expect([home.hasHolders, new Home(new NodeSql()).hasHolders]).toEqual([true, false]);
  });

  it("[E11] tells of a user who was thrown out", () => {
    const { home, told } = tellingHome();
    home.register(eu, ["ada"], 1_000);
    const code = { code: 3503, reason: "" };
    const ordered = home.order("ada", [{ method: "disconnect", code }], 1_000);
    const deliveries = ordered.outcome === "taken" ? ordered.deliveries : [];
    for (const delivery of deliveries) home.answered(delivery, { left: false });
    expect(told).toEqual(["ada on", "ada off"]);
  });
});

describe("an object that holds users", () => {
  it("[E11] says whom it holds, and registers the others anew when they come back", () => {
    const calls: (readonly string[])[] = [];
    const users = new LocalUsers((_home, asked, done) => {
      calls.push(asked);
      done({ lastOrder: 0 });
    });
    for (const user of ["ada", "bob"]) users.register(session(user));
    expect(users.held(["ada", "bob"], [session("ada")])).toEqual(["ada"]);
    for (const user of ["ada", "bob"]) users.register(session(user));
    expect(calls).toEqual([["ada"], ["bob"], ["bob"]]);
  });
});

const session = (user: string) => ({ ...silentSession, user });
const nothing = (): void => undefined;
const silentSession = {
  client: "c",
  secret: undefined,
  takesOrders: true,
  held: false,
  lastOrder: 0,
  carryOut: nothing,
  sawOrder: nothing,
  admitted: nothing,
  blocked: nothing,
  notAdmitted: nothing,
};

it("[E11] a home's question to all holders is due each hour, through hibernation", () => {
  const sql = new NodeSql();
  const hourMs = limits.eventsHoldersCheckMs;
  expect(new HoldersCheck(sql).dueAtMs(1_000)).toBe(1_000 + hourMs);
  const check = new HoldersCheck(sql);
  expect(check.dueAtMs(5_000)).toBe(1_000 + hourMs);
  check.asked(9_000);
  expect(new HoldersCheck(sql).dueAtMs(10_000)).toBe(9_000 + hourMs);
});
