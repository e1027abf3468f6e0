import { describe, expect, it } from "vitest";
import { carryOut } from "../../../../src/channel/carry-out.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { channelOptions, configured } from "../../../support/configured.ts";
import { parseEntry } from "../../../../src/api/methods.ts";
import { caller } from "../../api/channel-config.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { textOf } from "../../../support/text-of.ts";
import { sendAll } from "../../../support/send-all.ts";
import {
  openChannel,
  positioned,
  publishing,
  withHistory,
} from "../../../contract/open-channel.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";
import { ClientDecoder } from "../../hub/client-decoder.ts";
import { call, openChanging, publishAll, rowsOf } from "./changed-channel.ts";

const ada = { user: "ada", client: "c1" };

describe("an edit", () => {
  it("[ED2][ED3] is published, and takes the place of what it changes: live, late and after a restart", () => {
    const sql = new NodeSql();
    const channel = openChanging(sql);
    channel.publish(publishing('"secret"', { tags: { kind: "talk" } }), ada, 0);
    publishAll(channel, "other");
    const live = new RecordingSubscriber("live");
    channel.subscribe(live, positioned, 0);
    const result = call(channel, "update_publication", { offset: 1, data: "mended" }, 7);
    expect(result).toStrictEqual({ offset: 3, epoch: "e", version: 2 });
    sendAll(channel.hub);
    const marks = { kind: "talk", "dormouse.version": "2", "dormouse.at": "7" };
    const change = { "dormouse.update": "1", ...marks };
    expect(JSON.parse(textOf(live.frames[0] ?? ""))).toStrictEqual({
      push: { channel: "room", pub: { data: "mended", offset: 3, tags: change } },
    });
    const rows = [
      [1, '"mended"', { ...marks, "dormouse.updated": "3" }],
      [2, '"other"'],
      [3, '"mended"', change],
    ];
    expect(rowsOf(channel, 7)).toStrictEqual(rows);
    const late = openChanging(sql, { nowMs: 8 });
    expect(rowsOf(late, 8)).toStrictEqual(rows);
    const read = late.history({ limit: 1, reverse: false }, 8);
    expect(read).toMatchObject({ publications: [{ info: ada }] });
  });

  it("[ED3][ED11] isn't hidden by what was read before it", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "a", "secret");
    const since = { offset: 0, epoch: "e" };
    expect(channel.recover(since, "stream", 0)).toMatchObject({ publications: [{}, {}] });
    call(channel, "delete_publication", { offset: 2 });
    const read = channel.recover(since, "stream", 0);
    expect(JSON.stringify(read)).not.toContain("secret");
    expect(read).toMatchObject({ outcome: "recovered", publications: [{}, { data: "null" }, {}] });
    expect(channel.recover(since, "cache", 0)).toMatchObject({ publications: [{ offset: 3 }] });
  });

  it("[ED11] isn't overtaken by an older form that waits for a gateway", () => {
    const channel = openChanging(new NodeSql());
    channel.relay.follow("na/0", 0);
    publishAll(channel, "secret", "other");
    call(channel, "update_publication", { offset: 1, data: "secret again" });
    call(channel, "delete_publication", { offset: 1 });
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    const entries = JSON.stringify(delivery?.batch.entries);
    expect(entries).not.toContain("secret");
    expect(entries).toContain("other");
    expect(delivery?.batch.entries).toHaveLength(4);
  });

  it("[ED4][ED5] leaves no form that was replaced, for two rows, and three from the second on", () => {
    const counting = new CountingSql(new NodeSql());
    const channel = openChanging(counting);
    publishAll(channel, "first");
    const costOf = (work: () => void): number => {
      const before = counting.changes;
      work();
      return counting.changes - before;
    };
    expect(costOf(() => publishAll(channel, "x"))).toBe(1);
    const edit = (data: string) => call(channel, "update_publication", { offset: 1, data });
    expect(costOf(() => edit("second"))).toBe(2);
    expect(costOf(() => edit("third"))).toBe(3);
    expect(rowsOf(channel).map(([offset, data]) => [offset, data])).toStrictEqual([
      [1, '"third"'],
      [2, '"x"'],
      [3, "null"],
      [4, '"third"'],
    ]);
    expect(rowsOf(channel)[2]?.[2]).toStrictEqual({ "dormouse.replaced": "4" });
    expect(costOf(() => call(channel, "delete_publication", { offset: 1 }))).toBe(3);
    expect(JSON.stringify(rowsOf(channel))).not.toMatch(/first|second|third/);
  });

  it("[ED5] costs a namespace without changes nothing, and a publication no row more", () => {
    const [counted, plain] = [new CountingSql(new NodeSql()), new CountingSql(new NodeSql())];
    const channels = [openChanging(counted), openChannel(plain, { options: withHistory })];
    for (const channel of channels) publishAll(channel, "a", "b");
    expect([counted.changes, counted.rowsRead]).toStrictEqual([plain.changes, plain.rowsRead]);
  });

  it("[ED3] whose own row takes the place of what it changes is what late readers get", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "a", "b", "c", "d", "e");
    expect(call(channel, "update_publication", { offset: 1, data: "A" })).toMatchObject({
      offset: 6,
      version: 2,
    });
    expect(rowsOf(channel).map(([offset]) => offset)).toStrictEqual([2, 3, 4, 5, 6]);
    expect(call(channel, "update_publication", { offset: 1, data: "AA" })).toStrictEqual({
      offset: 6,
      epoch: "e",
      suppressed: true,
      suppress_reason: "not_found",
    });
  });

  it("[ED10] keeps the tags, has others, or none, and none that only the server sets", () => {
    const channel = openChanging(new NodeSql());
    channel.publish(publishing(1, { tags: { a: "b" } }), undefined, 0);
    const tagsAfter = (params: object) => {
      call(channel, "update_publication", { offset: 1, data: 2, ...params });
      const { a, c, ...marks } = rowsOf(channel)[0]?.[2] ?? {};
      expect(Object.keys(marks).every((name) => name.startsWith("dormouse."))).toBe(true);
      expect(marks["dormouse.deleted"]).toBeUndefined();
      return { a, c };
    };
    expect(tagsAfter({})).toStrictEqual({ a: "b", c: undefined });
    const forged = { c: "d", "dormouse.deleted": "1" };
    expect(tagsAfter({ tags: forged })).toStrictEqual({ a: undefined, c: "d" });
    expect(tagsAfter({ tags: {} })).toStrictEqual({ a: undefined, c: undefined });
  });
});

describe("a change for delta subscribers", () => {
  it("[ED12] is a delta from what they got before, and so is what follows", () => {
    const channel = openChanging(new NodeSql(), {
      options: { allowDelta: true, deltaPublish: true },
    });
    const reader = new RecordingSubscriber("reader", { delta: true });
    channel.subscribe(reader, positioned, 0);
    const long = "a long text that stays nearly as it was ".repeat(5);
    const texts = [`${long}1`, `${long}2`, `${long}3`];
    publishAll(channel, ...texts.slice(0, 2));
    call(channel, "update_publication", { offset: 1, data: texts[2] });
    call(channel, "delete_publication", { offset: 2 });
    publishAll(channel, ...texts.slice(0, 1));
    sendAll(channel.hub);
    const payloads = new ClientDecoder(jsonCodec, true).decode(reader.frames);
    const wanted = [texts[0], texts[1], texts[2], null, texts[0]];
    expect(payloads).toStrictEqual(wanted.map((each) => JSON.stringify(each)));
    expect(reader.frames.join("")).toContain('"delta":true');
  });
});

describe("a change that isn't made", () => {
  it("[ED6] says the true version", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "a");
    const edit = (if_version: number) =>
      call(channel, "update_publication", { offset: 1, data: "b", if_version });
    expect(edit(2)).toMatchObject({ suppress_reason: "version_mismatch", version: 1 });
    expect(edit(1)).toMatchObject({ version: 2 });
    expect(edit(1)).toMatchObject({ suppress_reason: "version_mismatch", version: 2 });
    expect(rowsOf(channel)).toHaveLength(2);
  });

  it("[ED7] says that the publication isn't there, is deleted, or is a change", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "a");
    const remove = (offset: number) => call(channel, "delete_publication", { offset });
    expect(reasonOf(remove(2))).toBe("not_found");
    expect(reasonOf(remove(1))).toBeUndefined();
    expect(reasonOf(remove(1))).toBe("deleted");
    expect(reasonOf(remove(2))).toBe("is_change");
    expect(call(channel, "delete_publication", { offset: 1, epoch: "f" })).toStrictEqual({
      error: 112,
    });
    expect(rowsOf(channel)).toHaveLength(2);
  });

  it("[ED7] finds nothing after the history has ended", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "a");
    expect(reasonOf(call(channel, "delete_publication", { offset: 1 }, 3_600_001))).toBe(
      "not_found",
    );
  });

  it("[ED8] repeats an idempotency key", () => {
    const channel = openChanging(new NodeSql());
    publishAll(channel, "a");
    const edit = () =>
      call(channel, "update_publication", { offset: 1, data: "b", idempotency_key: "once" });
    expect(edit()).toStrictEqual({ offset: 2, epoch: "e", version: 2 });
    expect(edit()).toStrictEqual({
      offset: 2,
      epoch: "e",
      suppressed: true,
      suppress_reason: "idempotency",
    });
    expect(rowsOf(channel)).toHaveLength(2);
  });

  it("[ED1] is refused where the namespace doesn't allow it", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory });
    publishAll(channel, "a");
    const request = { offset: 1, epoch: "", idempotencyKey: "", reason: "" };
    const outcome = carryOut(channel, { method: "delete_publication", request }, 0);
    expect(outcome).toMatchObject({ outcome: "failed", error: { code: 108 } });
  });
});

describe("a deletion", () => {
  it.each([
    ["", "null"],
    ["json", "null"],
    ["json_object", "{}"],
    ["binary", ""],
  ] as const)("[ED3] leaves what the format %j has for nothing, and the reason", (format, data) => {
    const channel = openChanging(new NodeSql(), { options: { publicationDataFormat: format } });
    channel.publish(publishing("{}"), undefined, 0);
    call(channel, "delete_publication", { offset: 1, reason: "spam" });
    expect(rowsOf(channel)[0]).toMatchObject([1, data, { "dormouse.reason": "spam" }]);
  });

  it("[ED9] isn't unread, and an edit makes nothing unread", () => {
    const { cursors } = channelOptions({
      history_size: 5,
      history_ttl: "1h",
      cursors: { enabled: true },
    });
    const channel = openChanging(new NodeSql(), { options: cursors ? { cursors } : {} });
    publishAll(channel, "a", "b", "c");
    const unread = () => {
      const operation = { method: "unread", request: { user: "ada" }, info: ada } as const;
      return JSON.stringify(carryOut(channel, operation, 0));
    };
    expect(unread()).toContain(String.raw`\"unread\":3`);
    call(channel, "delete_publication", { offset: 2 });
    expect(unread()).toContain(String.raw`\"unread\":2`);
    call(channel, "update_publication", { offset: 1, data: "A" });
    expect(unread()).toContain(String.raw`\"unread\":2`);
  });
});

describe("a client that may change its own", () => {
  const allowing = { changes: { ownForClient: true, windowMs: 1_000, erasableByUser: false } };
  const edit = (user: string, nowMs: number) => {
    const channel = openChanging(new NodeSql(), { options: allowing });
    channel.publish(publishing(1), ada, 0);
    const request = {
      offset: 1,
      epoch: "",
      idempotencyKey: "",
      reason: "",
      ownOnly: true,
    } as const;
    const info = { user, client: "c2" };
    const operation = { method: "delete_publication", request, info, asMethod: true } as const;
    return { outcome: carryOut(channel, operation, nowMs), rows: rowsOf(channel, nowMs) };
  };

  it("[ED13] changes what another client of its user has published", () => {
    const { outcome, rows } = edit("ada", 999);
    expect(outcome).toMatchObject({ outcome: "reply", reply: { outcome: "answered" } });
    expect(rows[0]?.[2]).toMatchObject({ "dormouse.deleted": "2", "dormouse.by": "ada" });
  });

  it.each([
    ["bob", 0],
    ["", 0],
    ["ada", 1_000],
  ])("[ED13] changes nothing of others, or too late: %j after %d ms", (user, nowMs) => {
    const { outcome, rows } = edit(user, nowMs);
    expect(outcome).toMatchObject({ outcome: "failed", error: { code: 103 } });
    expect(rows).toStrictEqual([[1, "1"]]);
  });
});

describe("a request to change", () => {
  const channels = configured({
    channel: {
      without_namespace: { history_size: 5, history_ttl: "1h", allow_change: true },
      namespaces: [
        { name: "plain", history_size: 5, history_ttl: "1h" },
        { name: "keys", subscription_type: "map", map: { mode: "persistent" } },
      ],
    },
  }).channel;

  it.each([
    ["plain:a", { offset: 1 }, 108],
    ["keys:a", { offset: 1 }, 107],
    ["a", {}, 107],
    ["a", { offset: 1, reason: "x".repeat(257) }, 107],
    ["a", { offset: 1, idempotency_key: "x".repeat(129) }, 107],
  ])("[ED1] of %s with %o is refused with %d", (channel, params, code) => {
    const request = JSON.stringify({ channel, ...params });
    const entry = parseEntry("delete_publication", request, { ...caller(), channels });
    expect(entry).toMatchObject({ outcome: "refused", error: { code } });
  });

  it.each([
    [{ allow_change: true }, "requires history"],
    [{ allow_change: true, subscription_type: "map", map: { mode: "persistent" } }, "is not for"],
  ])("[ED1] can't be allowed by %o", (without_namespace, problem) => {
    expect(() => configured({ channel: { without_namespace } })).toThrow(problem);
  });
});

function reasonOf(result: Readonly<Record<string, unknown>>): unknown {
  return result["suppress_reason"];
}
