import { describe, expect, it } from "vitest";
import { columnText } from "../../../src/sql.ts";
import { limits } from "../../../src/limits.ts";
import { Home } from "../../../src/users/home.ts";
import type { HolderQuestion } from "../../../src/users/holder-sweep.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const [eu, us] = ["gateway:eu/0", "gateway:us/0"];
const weekMs = limits.sweepIntervalMs;

/** A home with these registrations, made at 0 ms. */
function homeWith(sql: NodeSql, registrations: readonly (readonly [string, string])[]): Home {
  const home = new Home(sql);
  for (const [holder, user] of registrations) home.register(holder, [user], 0);
  return home;
}

const registered = (sql: NodeSql) =>
  sql
    .rows("SELECT user, holder FROM holder")
    .map((row) => `${columnText(row, "user")} ${columnText(row, "holder")}`);

const asked = (questions: readonly HolderQuestion[]) =>
  questions.map(({ holder, users }) => [holder, ...users]);

/** Sweeps to the end; `held` says whom each holder holds. */
function sweep(home: Home, nowMs: number, held: (holder: string) => readonly string[] | undefined) {
  let slices = 0;
  for (;;) {
    const questions = home.sweep.next(nowMs);
    if (questions.length === 0) return slices;
    slices++;
    for (const question of questions) home.sweep.answered(question, held(question.holder));
  }
}

describe("the sweep of a home", () => {
  it("[U15] is due a week after the first registration, and not at all without registrations", () => {
    const sql = new NodeSql();
    expect(new Home(sql).dueAtMs(0)).toBe(Number.POSITIVE_INFINITY);
    const home = homeWith(sql, [[eu, "ada"]]);
    home.register(eu, ["bob"], weekMs / 2);
    expect(home.dueAtMs(0)).toBe(weekMs);
    expect(home.sweep.next(weekMs - 1)).toStrictEqual([]);
    expect(sweep(home, weekMs, () => [])).toBe(1);
    expect(home.dueAtMs(weekMs)).toBe(Number.POSITIVE_INFINITY);
    expect(new Home(sql).dueAtMs(0)).toBe(Number.POSITIVE_INFINITY);
    home.register(eu, ["ada"], 2 * weekMs);
    expect(home.dueAtMs(2 * weekMs)).toBe(3 * weekMs);
  });

  it("[U15] asks each holder about its own users, and forgets those whom it doesn't hold", () => {
    const sql = new NodeSql();
    const home = homeWith(sql, [
      [eu, "ada"],
      [eu, "bob"],
      [us, "ada"],
      [us, "eve"],
    ]);
    const questions = home.sweep.next(weekMs);
    expect(asked(questions)).toStrictEqual([
      [eu, "ada", "bob"],
      [us, "ada", "eve"],
    ]);
    for (const question of questions)
      home.sweep.answered(question, question.holder === eu ? ["bob"] : undefined);
    expect(home.sweep.next(weekMs)).toStrictEqual([]);
    expect(registered(sql)).toStrictEqual([`ada ${us}`, `bob ${eu}`, `eve ${us}`]);
    expect(home.dueAtMs(weekMs)).toBe(2 * weekMs);
  });

  it("[U15] keeps a registration that is repeated while its holder is asked", () => {
    const sql = new NodeSql();
    const home = homeWith(sql, [
      [eu, "ada"],
      [eu, "bob"],
    ]);
    const [question] = home.sweep.next(weekMs);
    if (question === undefined) throw new Error("nobody is asked");
    home.register(eu, ["ada"], weekMs);
    home.sweep.answered(question, []);
    expect(registered(sql)).toStrictEqual([`ada ${eu}`]);
  });

  it("[U15] goes on after a crash where it was, in slices", () => {
    const sql = new NodeSql();
    const users = Array.from(
      { length: 2 * limits.sweepSliceMax + 1 },
      (_, index) => `user-${index}`,
    );
    const before = homeWith(
      sql,
      users.map((user) => [eu, user] as const),
    );
    for (const question of before.sweep.next(weekMs)) {
      expect(question.users.size).toBe(limits.sweepSliceMax);
      before.sweep.answered(question, []);
    }
    const home = new Home(sql);
    expect(home.dueAtMs(weekMs)).toBe(weekMs);
    expect(sweep(home, weekMs, () => [])).toBe(2);
    expect(registered(sql)).toStrictEqual([]);
  });

  it("[U15] begins for a home of a release without sweeps at its next registration", () => {
    const sql = new NodeSql();
    homeWith(sql, [[eu, "ada"]]);
    sql.run("DROP TABLE sweep");
    const home = new Home(sql);
    expect(home.dueAtMs(0)).toBe(Number.POSITIVE_INFINITY);
    home.register(us, ["ada"], 5);
    expect(home.dueAtMs(0)).toBe(5 + weekMs);
  });
});
