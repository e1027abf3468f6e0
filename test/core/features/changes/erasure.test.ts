import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import type { Channel } from "../../../../src/channel/channel.ts";
import { carryOut } from "../../../../src/channel/carry-out.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { channelOptions } from "../../../support/configured.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { publishing, positioned } from "../../../contract/open-channel.ts";
import { sendAll } from "../../../support/send-all.ts";
import { textOf } from "../../../support/text-of.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";
import { tagsFilter } from "../../../../src/protocol/tags-filter.ts";
import { ChannelErasure } from "../../../../src/features/changes/channel-erasure.ts";
import type { EraseRequest } from "../../../../src/features/changes/change-call.ts";
import { changeLimits } from "../../../../src/features/changes/limits.ts";
import { call, openChanging, publishAll, rowsOf } from "./changed-channel.ts";

const ada = { user: "ada", client: "c1" };
const bob = { user: "bob", client: "c2" };

describe("an erasure of a publication", () => {
  it("[ED14][ED15] leaves a numbered hole, live, late and after a restart", () => {
    const sql = new NodeSql();
    const channel = openChanging(sql);
    channel.publish(publishing('"secret"', { tags: { kind: "private" } }), ada, 0);
    publishAll(channel, "other");
    const live = new RecordingSubscriber("live");
    channel.subscribe(live, positioned, 0);
    const result = call(channel, "erase", { offset: 1 }, 7);
    expect(result).toStrictEqual({ offset: 3, epoch: "e", erased: 1 });
    sendAll(channel.hub);
    const marks = { "dormouse.version": "2", "dormouse.at": "7" };
    const change = { "dormouse.erase": "1", ...marks };
    expect(JSON.parse(textOf(live.frames[0] ?? ""))).toStrictEqual({
      push: { channel: "room", pub: { data: null, offset: 3, tags: change } },
    });
    const rows = [
      [1, "null", { "dormouse.erased": "3", ...marks }],
      [2, '"other"'],
      [3, "null", change],
    ];
    expect(rowsOf(channel, 7)).toStrictEqual(rows);
    const late = openChanging(sql, { nowMs: 8 });
    expect(rowsOf(late, 8)).toStrictEqual(rows);
    expect(JSON.stringify(late.history({ limit: -1, reverse: false }, 8))).not.toMatch(
      /secret|private|ada/,
    );
  });

  it("[ED14] reaches what was edited or deleted before, by its offset or by that of the change", () => {
    for (const asked of [1, 2, 3]) {
      const channel = openChanging(new NodeSql());
      channel.publish(publishing('"first"', { tags: { kind: "private" } }), ada, 0);
      call(channel, "update_publication", { offset: 1, data: "second" });
      call(channel, "delete_publication", { offset: 1, reason: "spam" });
      expect(call(channel, "erase", { offset: asked })).toMatchObject({
        erased: asked === 2 ? 0 : 1,
      });
      if (asked === 2) continue;
      const rows = JSON.stringify(rowsOf(channel));
      expect(rows).not.toMatch(/first|second|private|spam|ada/);
      expect(rowsOf(channel)[0]?.[2]).toMatchObject({ "dormouse.version": "4" });
    }
  });

  it("[ED14] is repeated without another publication, and erases nothing that isn't kept", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "secret");
    call(channel, "erase", { offset: 1 });
    expect(call(channel, "erase", { offset: 1 })).toStrictEqual({
      offset: 2,
      epoch: "e",
      erased: 0,
    });
    expect(call(channel, "erase", { offset: 9 })).toMatchObject({ offset: 2, erased: 0 });
    expect(call(channel, "update_publication", { offset: 1, data: "again" })).toMatchObject({
      suppress_reason: "deleted",
    });
    expect(call(channel, "erase", { offset: 1, epoch: "f" })).toStrictEqual({ error: 112 });
    publishAll(channel, "of nobody");
    expect(call(channel, "erase", { offset: 3, user: "ada" })).toMatchObject({ erased: 0 });
    expect(call(channel, "erase", { offset: 0 })).toStrictEqual({ error: 107 });
    expect(call(channel, "erase", {})).toStrictEqual({ error: 107 });
  });

  it("[ED14] reaches an edit whose publication the history has lost", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "first");
    call(channel, "update_publication", { offset: 1, data: "second" });
    publishAll(channel, "a", "b", "c", "d");
    expect(call(channel, "erase", { offset: 1 })).toMatchObject({ erased: 1, offset: 7 });
    expect(JSON.stringify(rowsOf(channel))).not.toContain("second");
    expect(rowsOf(channel).at(-1)?.[2]).toMatchObject({ "dormouse.erase": "1" });
    expect(call(channel, "erase", { offset: 1 })).toMatchObject({ erased: 0, offset: 7 });
  });

  it("[ED14] reaches rows that nobody can read any more", () => {
    const sql = new NodeSql();
    const channel = openChanging(sql);
    publishAll(channel, "secret");
    const afterEndMs = 3_600_001;
    expect(call(channel, "erase", { offset: 1 }, afterEndMs)).toMatchObject({
      offset: 1,
      erased: 1,
    });
    expect(sql.rows("SELECT data FROM publication")).toMatchObject([{ data: "null" }]);
  });

  it("[ED14] passes each filter, because it has no tags any more", () => {
    const filter = tagsFilter({
      op: "",
      key: "kind",
      cmp: "eq",
      val: "private",
      vals: [],
      nodes: [],
    });
    if (filter === undefined) throw new Error("the filter is invalid");
    const channel = openChanging(new NodeSql());
    const live = new RecordingSubscriber("live", { filter });
    channel.subscribe(live, positioned, 0);
    channel.publish(publishing('"secret"', { tags: { kind: "private" } }), ada, 0);
    publishAll(channel, "other");
    call(channel, "erase", { offset: 1 });
    sendAll(channel.hub);
    expect(live.frames.map(textOf).join("")).toContain('"dormouse.erase":"1"');
    expect(live.frames.map(textOf).join("")).not.toContain("other");
  });

  it("[ED9] isn't unread", () => {
    const { cursors } = channelOptions({
      history_size: 5,
      history_ttl: "1h",
      cursors: { enabled: true },
    });
    const channel = openChanging(new NodeSql(), { options: cursors ? { cursors } : {} });
    publishAll(channel, "a", "b");
    call(channel, "erase", { offset: 2 });
    const operation = { method: "unread", request: { user: "bob" }, info: bob } as const;
    expect(JSON.stringify(carryOut(channel, operation, 0))).toContain(String.raw`\"unread\":1`);
  });
});

describe("an erasure of a user", () => {
  it("[ED14] reaches all that the user has published, and the name in what others have", () => {
    const channel = openChanging(new NodeSql(), { options: { historySize: 20 } });
    channel.publish(publishing('"hers"'), ada, 0);
    channel.publish(publishing('"his"'), bob, 0);
    channel.publish(publishing('"hers too"'), ada, 0);
    edit(channel, 1, "hers anew");
    edit(channel, 2, "his anew");
    expect(call(channel, "erase", { user: "ada" })).toMatchObject({ offset: 6, erased: 2 });
    expect(rowsOf(channel).map(([offset, data]) => [offset, data])).toStrictEqual([
      [1, "null"],
      [2, '"his anew"'],
      [3, "null"],
      [4, "null"],
      [5, '"his anew"'],
      [6, "null"],
    ]);
    expect(rowsOf(channel)[5]?.[2]).toMatchObject({ "dormouse.erase": "1,3" });
    const read = JSON.stringify(channel.history({ limit: -1, reverse: false }, 0));
    expect(read).not.toMatch(/ada|hers/);
    expect(read).toContain("bob");
  });
});

describe("an erasure in a long history", () => {
  const rows = 2 * changeLimits.scannedAtOnce + 10;

  /** A channel whose oldest and newest publications are Ada's, and in whose ring the newest ones lie before the oldest. */
  function longChannel(): Channel {
    const sql = new NodeSql();
    const channel = openChanging(sql, { options: { historySize: rows } });
    sql.transaction(() => {
      publishAll(channel, "gone", "gone", "gone");
      channel.publish(publishing('"hers"'), ada, 0);
      for (let count = 2; count < rows; count++) channel.publish(publishing('"his"'), bob, 0);
      channel.publish(publishing('"hers"'), ada, 0);
    });
    return channel;
  }

  it("[ED16] looks at no more rows in one slice than it may, wherever the user's lie", () => {
    const channel = longChannel();
    expect(slicesOf(channel, { epoch: "", user: "ada" })).toStrictEqual([2, 0, 0]);
    expect(countOf(channel, '"hers"')).toBe(0);
    expect(countOf(channel, '"his"')).toBe(rows - 2);
  });

  it("[ED16] overwrites no more rows in one slice than it may", () => {
    const channel = longChannel();
    const slices = slicesOf(channel, { epoch: "", user: "bob" });
    expect(Math.max(...slices)).toBe(changeLimits.erasedAtOnce);
    expect(slices.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(rows - 50);
    expect(countOf(channel, '"his"')).toBe(0);
  });

  it("[ED16] looks for the edit of a publication that is lost in slices, too", () => {
    const channel = longChannel();
    call(channel, "update_publication", { offset: 4, data: "hers anew" });
    publishAll(channel, "other");
    expect(slicesOf(channel, { offset: 4, epoch: "", user: "" })).toStrictEqual([1, 0, 0]);
    expect(countOf(channel, '"hers anew"')).toBe(0);
  });

  it("[ED15] doesn't even measure a history that is too large to be written anew", () => {
    const counting = new CountingSql(new NodeSql());
    const channel = openChanging(counting);
    publishAll(channel, "a", "b", "c");
    const measured: unknown[] = [];
    const read = counting.rows.bind(counting);
    counting.rows = (query, ...values) => {
      const found = read(query, ...values);
      measured.push(...found);
      return found;
    };
    channel.store.rewrite(1, 1_000_000);
    expect(measured).toMatchObject([{ rows: 2 }]);
  });
});

describe("the database's file after an erasure", () => {
  it.each([
    ["small", 0],
    ["of different sizes", 400],
    ["larger than a page", 12_000],
  ])("[ED15] has no copy of what was erased, where publications are %s", (_, longest) => {
    const path = `${mkdtempSync(`${tmpdir()}/erased-`)}/channel.sqlite`;
    const sql = new NodeSql(path);
    const channel = openChanging(sql, { options: { historySize: 60 } });
    const publish = (number: number) => {
      const length = longest === 0 ? 30 : 20 + ((number * 7_919) % longest);
      const info = { ...ada, connInfo: trustedJsonText(`"name-${number}-of-ada"`) };
      const text = JSON.stringify(`secret-${number}-`.padEnd(length, "x"));
      channel.publish(publishing(text, { tags: { tag: `tag-${number}-of-ada` } }), info, 0);
    };
    sql.transaction(() => {
      for (let number = 1; number <= 200; number++) publish(number);
    });
    for (const offset of [150, 163, 177, 200]) call(channel, "erase", { offset });
    channel.store.rewrite(1_000, 10_000_000);
    channel.store.rewritten();
    sql.close();
    const file = readFileSync(path, "latin1");
    for (const number of [150, 163, 177, 200]) {
      expect(file).not.toContain(`secret-${number}-`);
      expect(file).not.toContain(`name-${number}-`);
      expect(file).not.toContain(`tag-${number}-`);
    }
    expect(file).toContain("secret-176-");
  });

  it("[ED15] costs a row for each publication, where they aren't too many", () => {
    const counting = new CountingSql(new NodeSql());
    const channel = openChanging(counting);
    publishAll(channel, "a", "b", "c");
    const before = counting.changes;
    call(channel, "erase", { offset: 1 });
    expect(counting.changes - before).toBe(3);
    channel.store.rewrite(3, 1_000_000);
    expect(counting.changes - before).toBe(3);
  });
});

/** Ada edits a publication. */
function edit(channel: Channel, offset: number, text: string): void {
  const data = trustedJsonText(JSON.stringify(text));
  const request = { offset, epoch: "", idempotencyKey: "", data, delta: false };
  carryOut(channel, { method: "update_publication", request, info: ada }, 0);
}

/** How many publications have this data. */
function countOf(channel: Channel, text: string): number {
  return rowsOf(channel).filter(([, data]) => data === text).length;
}

/** The slices of an erasure, each with how many publications it has erased. */
function slicesOf(channel: Channel, request: EraseRequest): readonly number[] {
  const erasure = new ChannelErasure(channel);
  const run = erasure.begin(request, "", 0);
  const slices = [run.erased];
  while (run.from !== undefined) {
    const before = run.erased;
    erasure.goOn(run, 0);
    slices.push(run.erased - before);
  }
  return slices;
}
