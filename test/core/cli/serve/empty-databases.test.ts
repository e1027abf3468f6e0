import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it } from "vitest";
import { deleteEmptyDatabases } from "../../../../cli/serve/wrangler-state.ts";

const folder = mkdtempSync(join(tmpdir(), "dormouse-empty-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A database as the runtime leaves it: with a write-ahead log while it is open, and without one afterwards. */
function database(name: string, statements: string, close = true): DatabaseSync {
  const made = new DatabaseSync(join(folder, "ChannelObject", name));
  made.exec(`PRAGMA journal_mode = WAL; ${statements}`);
  if (close) made.close();
  return made;
}

const id = (digit: string): string => `${digit.repeat(64)}.sqlite`;

it("[H13] a server that starts deletes the databases that hold nothing, and no other file", () => {
  mkdirSync(join(folder, "ChannelObject"), { recursive: true });
  const nothing = "CREATE TABLE t (a); DROP TABLE t;";
  database(id("1"), nothing);
  database(id("2"), "CREATE TABLE t (a);");
  const open = database(id("3"), "CREATE TABLE t (a); INSERT INTO t VALUES (1);", false);
  database("metadata.sqlite", nothing);
  writeFileSync(join(folder, "ChannelObject", id("4")), "");
  writeFileSync(join(folder, "ChannelObject", id("5")), "something else".repeat(100));
  expect(deleteEmptyDatabases(folder)).toBe(2);
  const left = readdirSync(join(folder, "ChannelObject")).filter((name) => name.endsWith("sqlite"));
  expect(left.toSorted()).toEqual([id("2"), id("3"), id("5"), "metadata.sqlite"]);
  open.close();
  const kept = new DatabaseSync(join(folder, "ChannelObject", id("3")));
  expect(kept.prepare("SELECT a FROM t").all()).toHaveLength(1);
  kept.close();
});

it("[H13] a server that starts for the first time has nothing to delete", () => {
  expect(deleteEmptyDatabases(join(folder, "absent"))).toBe(0);
  expect(existsSync(join(folder, "absent"))).toBe(false);
});
