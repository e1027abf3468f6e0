import { describe, expect, it } from "vitest";
import { freshDatabase, usedDatabase } from "./database.ts";
import { Storage, StorageFailure } from "./storage.ts";
import { Timeline } from "./timeline.ts";

describe.each([
  { kind: "fresh", database: freshDatabase },
  { kind: "used", database: usedDatabase },
])("a storage on a $kind database", ({ database }) => {
  const make = () => {
    const timeline = new Timeline(0);
    const observed: string[] = [];
    const owner = {
      save: () => () => observed.push("restored"),
      committed: () => observed.push("committed") > 0,
      failed: () => observed.push("failed"),
    };
    const storage = new Storage(timeline, owner, () => 4, database());
    const values = (): readonly unknown[] =>
      storage.rows("SELECT value FROM item ORDER BY value").map(({ value }) => value);
    return { timeline, seen: observed, storage, values };
  };
  const create = "CREATE TABLE item (value INTEGER)";
  const insert = "INSERT INTO item VALUES (?)";

  it("[O2] holds output until the writes are durable, and then sends it in order", () => {
    const { timeline, seen: observed, storage } = make();
    storage.gate(() => observed.push("nothing to wait for"));
    storage.run(create);
    storage.gate(() => {
      observed.push("first");
      storage.gate(() => observed.push("third"));
    });
    storage.gate(() => observed.push("second"));
    expect(observed).toEqual(["nothing to wait for"]);
    timeline.pass(10);
    expect(observed.slice(1)).toEqual(["committed", "first", "second", "third"]);
  });

  it("loses with a crash the writes that weren't durable, and no others", () => {
    const { timeline, seen: observed, storage, values } = make();
    storage.run(create);
    storage.run(insert, 1);
    timeline.pass(10);
    storage.run(insert, 2);
    timeline.pass(2);
    storage.run(insert, 3);
    timeline.pass(2);
    storage.gate(() => observed.push("left"));
    storage.crash();
    timeline.pass(100);
    expect(values()).toEqual([1, 2]);
    expect(observed).toEqual(["committed", "committed", "restored"]);
    expect(storage.clean).toBe(true);
  });

  it("drops a table whose creation a crash undid", () => {
    const { storage, values } = make();
    storage.run(create);
    storage.crash();
    expect(values).toThrow("no");
    storage.run(create);
    expect(values()).toEqual([]);
  });

  it("sends no output after a failed write, and the crash undoes the writes around it", () => {
    const { timeline, seen: observed, storage, values } = make();
    storage.run(create);
    timeline.pass(10);
    storage.failAfter(1);
    storage.run(insert, 1);
    expect(() => storage.run(insert, 2)).toThrow(StorageFailure);
    storage.run(insert, 3);
    storage.gate(() => observed.push("left"));
    timeline.pass(100);
    storage.crash();
    expect(values()).toEqual([]);
    expect(observed).toEqual(["committed", "failed", "restored"]);
  });

  it("leaves nothing in the database for its next user", () => {
    const { timeline, storage } = make();
    storage.run(create);
    storage.run(insert, 1);
    timeline.pass(10);
    storage.close();
    const { storage: next, values } = make();
    expect(values).toThrow("no");
    next.run(create);
    expect(values()).toEqual([]);
  });
});
