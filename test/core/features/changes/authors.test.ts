import { afterEach, describe, expect, it } from "vitest";
import { ChannelAuthors } from "../../../../src/features/changes/authors/channel-authors.ts";
import { changeLimits } from "../../../../src/features/changes/limits.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { call, openChanging, publishAll } from "./changed-channel.ts";

const before: object = { ...changeLimits };
afterEach(() => {
  Object.assign(changeLimits, before);
});

const indexed = { changes: { ownForClient: false, windowMs: 0, erasableByUser: true } };
const of = (user: string) => ({ user, client: `client of ${user}` });

/** A channel whose authors are noted, and whose rows are counted. */
function openIndexed(storage = new NodeSql(), options: object = indexed) {
  const sql = new CountingSql(storage);
  const channel = openChanging(sql, { options });
  /** Publishes for a user; gives the rows that are written, and those that are read. */
  const publish = (user: string): readonly [written: number, read: number] => {
    const [changes, read] = [sql.changes, sql.rowsRead];
    channel.publish(publishing('"text"'), of(user), 0);
    return [sql.changes - changes, sql.rowsRead - read];
  };
  const authors = () => sql.rows("SELECT user FROM author").map(({ user }) => user);
  const untold = () => sql.rows("SELECT user FROM untold_author").map(({ user }) => user);
  return { storage, channel, publish, authors, untold };
}

describe("the authors of a channel", () => {
  it("[ED18] cost two rows each, with the first publication, and nothing without the option", () => {
    const { storage, channel, publish, authors, untold } = openIndexed();
    publishAll(channel, "of a backend");
    expect(storage.rows("SELECT 1 FROM sqlite_master WHERE name = 'author'")).toStrictEqual([]);
    publish("ada");
    // The tables are there now.
    expect(publish("bob")[0]).toBe(3);
    expect(publish("bob")).toStrictEqual([1, 0]);
    expect([authors(), untold()]).toStrictEqual([
      ["ada", "bob"],
      ["ada", "bob"],
    ]);
    const without = openIndexed(new NodeSql(), {});
    without.publish("ada");
    expect(without.publish("bob")).toStrictEqual([1, 0]);
  });

  it("[ED18] cost one row read for a user who isn't in memory", () => {
    Object.assign(changeLimits, { authorsInMemoryMax: 2 });
    const { storage, publish } = openIndexed();
    for (const user of ["ada", "bob", "eve"]) publish(user);
    expect(publish("eve")).toStrictEqual([1, 0]);
    expect(publish("ada")).toStrictEqual([1, 1]);
    const next = openIndexed(storage);
    next.publish("nobody before");
    expect(next.publish("bob")).toStrictEqual([1, 1]);
    expect(next.publish("bob")).toStrictEqual([1, 0]);
  });

  it("[ED18] are reported again if there are more than are noted", () => {
    Object.assign(changeLimits, { authorsMax: 2 });
    const { publish, authors, untold } = openIndexed();
    for (const user of ["ada", "bob", "eve"]) publish(user);
    expect(authors()).toStrictEqual(["eve"]);
    expect(untold()).toStrictEqual(["ada", "bob", "eve"]);
  });

  it("[ED18] are noted anew once all that they have published is erased, and not before that", () => {
    const { channel, publish, authors } = openIndexed();
    publish("ada");
    publish("bob");
    call(channel, "erase", { offset: 1 });
    expect(authors()).toStrictEqual(["ada", "bob"]);
    call(channel, "erase", { user: "ada" });
    expect(authors()).toStrictEqual(["bob"]);
    publish("ada");
    expect(authors()).toStrictEqual(["ada", "bob"]);
  });

  it("[ED18] are those who have changed a publication, too, and no anonymous ones", () => {
    const sql = new NodeSql();
    const authors = new ChannelAuthors(sql);
    authors.accepted({ data: trustedJsonText("1"), info: of("") }, 0);
    authors.accepted(
      { data: trustedJsonText("1"), tags: { "dormouse.update": "1" }, info: of("mo") },
      7,
    );
    expect([...authors.untold.users]).toStrictEqual([["mo", 7]]);
    expect([...new ChannelAuthors(sql).untold.users]).toStrictEqual([["mo", 7]]);
  });
});
