import { describe, expect, it } from "vitest";
import { tokenKey, userKey } from "../../../src/contract/identity-key.ts";
import { limits } from "../../../src/limits.ts";
import { Home } from "../../../src/users/home.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const [eu, us] = ["gateway:eu/0", "gateway:us/0"];

/** A home, and what it tells of users. */
function tellingHome(sql = new NodeSql()) {
  const told: string[] = [];
  const home = new Home(sql, (user, isOnline) => told.push(`${user} ${isOnline ? "on" : "off"}`));
  /** Asks one holder about a user. */
  const ask = (user: string, holder: string, left: boolean): void => {
    for (const question of home.questions(userKey(user), holder)) home.answered(question, { left });
  };
  /** Has the home sweep; the holders say whom they hold. */
  const sweep = (nowMs: number, held: readonly string[]): void => {
    for (;;) {
      const questions = home.sweep.next(nowMs);
      if (questions.length === 0) return;
      for (const question of questions) home.sweep.answered(question, held);
    }
  };
  return { home, told, ask, sweep };
}

describe("a home that tells who is online", () => {
  it("[E11] tells of a user's first holder and last one, and of none between", () => {
    const { home, told, ask } = tellingHome();
    home.register(eu, ["ada", "bob"], 1_000);
    home.register(us, ["ada"], 1_000);
    home.register(eu, ["ada"], 1_000);
    expect(told).toEqual(["ada on", "bob on"]);
    ask("ada", eu, false);
    ask("bob", eu, true);
    ask("eve", eu, false);
    // The other holder isn't asked, and one that isn't registered neither.
    ask("bob", us, false);
    expect(told).toEqual(["ada on", "bob on"]);
    ask("ada", us, false);
    expect(told).toEqual(["ada on", "bob on", "ada off"]);
    home.register(us, ["ada"], 1_000);
    expect(told.at(-1)).toBe("ada on");
  });

  it("[E11] [E17] doesn't take a user for gone who has come back meanwhile, or of whom it heard nothing", () => {
    const { home, told } = tellingHome();
    home.register(eu, ["ada"], 1_000);
    const [question] = home.questions("ada", eu);
    home.register(eu, ["ada"], 1_000);
    if (question !== undefined) home.answered(question, { left: false });
    for (const again of home.questions("ada", eu)) home.answered(again, undefined);
    expect(told).toEqual(["ada on"]);
    expect(home.questions("ada")).toHaveLength(1);
  });

  it("[E11] tells of a user who was thrown out, and not of one who is blocked", () => {
    const { home, told } = tellingHome();
    home.register(eu, ["ada"], 1_000);
    const ordered = home.order("ada", [{ method: "block_user", expireAtSeconds: 0 }], 1_000);
    const deliveries = ordered.outcome === "taken" ? ordered.deliveries : [];
    for (const delivery of deliveries) home.answered(delivery, { left: false });
    expect(told).toEqual(["ada on", "ada off"]);
    home.register(us, ["ada"], 1_000);
    expect(told).toEqual(["ada on", "ada off"]);
  });

  it("[E11] [U10] tells nobody of tokens, whose homes they share", () => {
    const { home, told, sweep } = tellingHome();
    home.register(eu, [tokenKey("jti"), userKey("ada")], 1_000, [2_000, 0]);
    sweep(1_000 + limits.eventsHoldersCheckMs, []);
    expect(told).toEqual(["ada on", "ada off"]);
    home.register(eu, [tokenKey("jti")], 1_000);
    const ordered = home.order(
      tokenKey("jti"),
      [{ method: "revoke_token", expireAtSeconds: 0 }],
      1_000,
    );
    const deliveries = ordered.outcome === "taken" ? ordered.deliveries : [];
    expect(deliveries).toHaveLength(1);
    for (const delivery of deliveries) home.answered(delivery, { left: false });
    expect(told).toEqual(["ada on", "ada off"]);
  });

  it("[E11] tells users by their IDs, and not by the keys of their homes", () => {
    const { home, told, ask } = tellingHome();
    const strange = "\u0001token:jti";
    home.register(eu, [userKey(strange)], 1_000);
    ask(strange, eu, false);
    expect(told).toEqual([`${strange} on`, `${strange} off`]);
  });
});

describe("the sweep of a home that tells who is online", () => {
  const hourMs = limits.eventsHoldersCheckMs;

  it("[E17] [U15] comes each hour, through hibernation, and tells of those who are gone", () => {
    const sql = new NodeSql();
    const { home } = tellingHome(sql);
    home.register(eu, ["ada", "bob"], 1_000);
    const { home: restored, told, sweep } = tellingHome(sql);
    expect(restored.dueAtMs(5_000)).toBe(1_000 + hourMs);
    sweep(1_000 + hourMs, ["bob"]);
    expect(told).toEqual(["ada off"]);
    expect(restored.dueAtMs(1_000 + hourMs)).toBe(1_000 + 2 * hourMs);
  });

  it("[E17] [U15] comes within an hour of a registration where it was planned for a week later", () => {
    const sql = new NodeSql();
    const before = new Home(sql);
    before.register(eu, ["ada"], 1_000);
    expect(before.dueAtMs(0)).toBe(1_000 + limits.sweepIntervalMs);
    const { home } = tellingHome(sql);
    home.register(us, ["bob"], 5_000);
    expect(home.dueAtMs(0)).toBe(5_000 + hourMs);
    home.register(us, ["bob"], 6_000);
    expect(home.dueAtMs(0)).toBe(5_000 + hourMs);
  });
});
