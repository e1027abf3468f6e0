import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { UserStatuses } from "../../../src/users/user-statuses.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const nobody: ReadonlySet<string> = new Set();
const start = 1_700_000_000;

describe("the statuses that a home keeps", () => {
  it("[U25] [U26] are when users were active and online, through a crash", () => {
    const sql = new NodeSql();
    const before = new UserStatuses(sql);
    expect(before.read(["ada"], nobody, start)).toStrictEqual([
      { user: "ada", activeSeconds: 0, onlineSeconds: 0, state: "" },
    ]);
    before.remove(["ada"]);
    before.update(["ada", "bob"], "busy", start);
    before.ended(["ada", "eve"], start + 1);
    const statuses = new UserStatuses(sql);
    expect(statuses.read(["eve", "ada", "bob"], new Set(["bob"]), start + 2)).toStrictEqual([
      { user: "eve", activeSeconds: 0, onlineSeconds: start + 1, state: "" },
      { user: "ada", activeSeconds: start, onlineSeconds: start + 1, state: "busy" },
      { user: "bob", activeSeconds: start, onlineSeconds: start + 2, state: "busy" },
    ]);
    statuses.update(["ada"], "", start + 3);
    expect(statuses.read(["ada"], nobody, start + 4)).toStrictEqual([
      { user: "ada", activeSeconds: start + 3, onlineSeconds: start + 1, state: "" },
    ]);
    statuses.remove(["ada", "nobody"]);
    expect(statuses.read(["ada"], nobody, start)[0]?.activeSeconds).toBe(0);
  });

  it("[U26] note the end of a connection at most once in a minute", () => {
    const sql = new NodeSql();
    const statuses = new UserStatuses(sql);
    const online = () => statuses.read(["ada"], nobody, start)[0]?.onlineSeconds;
    statuses.ended(["ada"], start);
    const pause = limits.onlineNoteMs / 1_000;
    statuses.ended(["ada"], start + pause - 1);
    expect(online()).toBe(start);
    statuses.ended(["ada"], start + pause);
    expect(online()).toBe(start + pause);
  });

  it("[U27] are deleted when nobody has changed them for long, as others are written", () => {
    const sql = new NodeSql();
    const statuses = new UserStatuses(sql);
    const users = Array.from({ length: 100 }, (_, index) => `old${index}`);
    statuses.ended(users, start);
    const rows = () => sql.rows("SELECT 1 FROM status").length;
    const later = start + limits.statusKeptMs / 1_000;
    for (let index = 0; index < 120; index++) statuses.ended([`even${index}`], later);
    expect(rows()).toBe(220);
    for (let index = 0; index < 250; index++) statuses.ended([`new${index}`], later + 1);
    expect(rows()).toBe(370);
    expect(sql.rows("SELECT 1 FROM status WHERE user LIKE 'old%'")).toHaveLength(0);
  });
});
