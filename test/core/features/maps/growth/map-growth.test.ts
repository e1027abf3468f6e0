import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { growthLimits } from "../../../../../src/features/maps/growth/limits.ts";
import { jsonCodec } from "../../../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../../../src/protocol/protobuf/codec.ts";
import { changesOf, set, unset } from "../../../../contract/open-map.ts";
import { trustedJsonText } from "../../../../../src/protocol/json/text.ts";
import { NodeSql } from "../../../../../package/test/node-sql.ts";
import { CountingSql } from "../../../../support/counting-sql.ts";
import { growingKey, growingMap } from "./growing-map.ts";

const json = (value: unknown) => trustedJsonText(JSON.stringify(value));

const mismatch = (length: number) => ({
  outcome: "not-appended",
  reason: "length_mismatch",
  length,
});

describe("appending", () => {
  it("[Z38] puts a text at the end, and says how long it is in UTF-16 units", () => {
    const growing = growingMap(new NodeSql(), { appendWindowMs: 0 });
    expect(growing.append("Héllo ")).toMatchObject({ outcome: "appended", length: 6 });
    expect(growing.append("🌍", { at: 6 })).toMatchObject({ outcome: "appended", length: 8 });
    expect(growing.append("", { at: 8 })).toMatchObject({ outcome: "appended", length: 8 });
    expect(growing.stored()).toBe("Héllo 🌍");
    expect(growing.channel.top?.offset).toBe(2);
  });

  it("[Z38] at another length does nothing, and tells the true one", () => {
    const growing = growingMap(new NodeSql());
    expect(growing.append("a", { at: 1 })).toEqual(mismatch(0));
    growing.append("abc");
    expect(growing.append("x", { at: 2 })).toEqual(mismatch(3));
    expect(growing.append("x", { at: 4 })).toEqual(mismatch(3));
    expect(growing.append("cd", { at: 2 })).toEqual(mismatch(3));
    expect(growing.append("", { at: 2 })).toEqual(mismatch(3));
    expect(growing.stored()).toBe("abc");
  });

  it("[Z38] succeeds again where the text is there already, whether or not that is durable", () => {
    const growing = growingMap(new NodeSql());
    growing.append("abc");
    growing.append("def", { at: 3 });
    const reader = growing.reader();
    for (const [at, text] of [
      [0, "abc"],
      [3, "def"],
      [1, "bcde"],
    ] as const)
      expect(growing.append(text, { at })).toMatchObject({ outcome: "appended", length: 6 });
    growing.pass(250);
    expect(growing.stored()).toBe("abcdef");
    expect(reader.count()).toBe(1);
  });

  it("[Z38] grows a string in an object, of which the rest stays as it was written", () => {
    const growing = growingMap(new NodeSql());
    const data = trustedJsonText('{"n":1.0, "text" : "a\\u0062" ,"id":12345678901234567890}');
    set(growing.map, growingKey, 0, { data });
    const reader = growing.reader();
    growing.append('"c"', { field: "text", at: 2 });
    growing.append("d", { field: "text", at: 5 });
    growing.pass(250);
    expect(growing.map.entry(growingKey)?.data).toBe(
      '{"n":1.0, "text" : "a\\u0062\\"c\\"d" ,"id":12345678901234567890}',
    );
    expect(reader.value()).toMatchObject({ n: 1, text: 'ab"c"d' });
  });

  it.each([
    [undefined, { t: "x" }],
    ["{}", { t: "x" }],
    ['{"a":[1,2]}', { a: [1, 2], t: "x" }],
  ])("[Z38] begins a member that the value %s lacks", (before, after) => {
    const growing = growingMap(new NodeSql());
    if (before !== undefined) set(growing.map, growingKey, 0, { data: trustedJsonText(before) });
    const reader = growing.reader();
    expect(growing.append("x", { field: "t", at: 0 })).toMatchObject({ length: 1 });
    expect(growing.stored()).toEqual(after);
    expect(reader.value()).toEqual(after);
  });

  it.each([
    ["1", ""],
    ['["a"]', ""],
    ['{"t":"a"}', ""],
    ['"a"', "t"],
    ['{"t":1}', "t"],
  ])("[Z38] does nothing to %s, field %j, which is no text", (data, field) => {
    const growing = growingMap(new NodeSql());
    set(growing.map, growingKey, 0, { data: trustedJsonText(data) });
    expect(growing.append("x", { ...(field !== "" && { field }) })).toEqual({
      outcome: "not-appended",
      reason: "not_text",
      length: 0,
    });
    expect(growing.stored()).toEqual(JSON.parse(data));
  });

  it.each([0, 250])("[Z38] is over with the final piece (window of %i ms)", (appendWindowMs) => {
    const sql = new NodeSql();
    const growing = growingMap(sql, { appendWindowMs });
    growing.append("a");
    growing.append("b", { at: 1 });
    expect(growing.append("c", { at: 2, final: true })).toMatchObject({ length: 3 });
    expect(growing.stored()).toBe("abc");
    const { top } = growing.channel;
    const ended = { outcome: "not-appended", reason: "final", length: 3 };
    for (const again of [growing, growingMap(sql, { appendWindowMs })]) {
      expect(again.append("c", { at: 2, final: true })).toMatchObject({ length: 3 });
      expect(again.append("d", { at: 3 })).toEqual(ended);
      expect(again.append("d")).toEqual(ended);
      expect(again.append("d", { at: 2 })).toMatchObject({ reason: "length_mismatch" });
      expect(again.channel.top).toEqual(top);
    }
    set(growing.map, growingKey, 0, { data: json("new") });
    expect(growing.append("er")).toMatchObject({ outcome: "appended", length: 5 });
  });

  it("[Z38] ends a text that is there already with the final piece", () => {
    const growing = growingMap(new NodeSql());
    growing.append("abc");
    expect(growing.append("", { at: 3, final: true })).toMatchObject({ length: 3 });
    expect(growing.append("d", { at: 3 })).toMatchObject({ reason: "final" });
  });

  it("[Z38] [I1] is done once with an idempotency key, which makes it durable at once", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    growing.append("b", { idempotencyKey: "once" });
    expect(growing.stored()).toBe("ab");
    growing.append("c");
    expect(growing.append("b", { idempotencyKey: "once" })).toEqual({
      outcome: "not-appended",
      reason: "idempotency",
      length: 3,
    });
    // Also a text that is there already, and isn't durable yet.
    growing.append("c", { at: 2 });
    expect(growing.stored()).toBe("ab");
    growing.append("c", { at: 2, idempotencyKey: "again" });
    expect(growing.stored()).toBe("abc");
  });
});

describe.each([jsonCodec, protobufCodec, messagePackCodec])("subscribers ($name)", (codec) => {
  it("[Z39] with deltas get each piece, and others the value once a window", () => {
    const growing = growingMap(new NodeSql());
    const [delta, plain] = [growing.reader(codec), growing.reader(codec, false)];
    let text = "";
    for (let number = 0; number < 20; number++) {
      growing.append(`word ${number} é"\n`, { at: text.length });
      text += `word ${number} é"\n`;
      expect(delta.value()).toBe(text);
    }
    expect(plain.value()).toBe('word 0 é"\n');
    growing.pass(250);
    expect([delta.value(), plain.value(), growing.stored()]).toEqual([text, text, text]);
    expect([delta.count(), plain.count()]).toEqual([21, 2]);
    const bytes = delta.subscriber.frames.slice(1).map((frame) => frame.length);
    expect(Math.max(...bytes)).toBeLessThan(150);
  });

  it("[Z39] who come within a window get the pieces with its end, and then each", () => {
    const growing = growingMap(new NodeSql());
    const first = growing.reader(codec);
    growing.append("a");
    growing.append("b");
    const late = growing.reader(codec);
    growing.append("c");
    expect([first.value(), late.value(), late.count()]).toEqual(["abc", "a", 0]);
    growing.pass(250);
    growing.append("d");
    expect([first.value(), late.value()]).toEqual(["abcd", "abcd"]);
    expect(late.count()).toBe(2);
  });
});

it("[Z39] those without deltas get the newest value, where several wait in one frame", () => {
  const growing = growingMap(new NodeSql(), { appendWindowMs: 0 });
  const [delta, plain] = [growing.reader(), growing.reader(jsonCodec, false)];
  const request = { key: growingKey, final: false, idempotencyKey: "" };
  for (const text of "abc") growing.map.append({ ...request, text }, undefined, 0);
  growing.append("d");
  expect([delta.value(), plain.value()]).toEqual(["abcd", "abcd"]);
  // The first change of a stream tells the epoch, and is sent all the same.
  expect([delta.count(), plain.count()]).toEqual([4, 2]);
});

describe("random appends", () => {
  it("[Z38] [Z39] [Z2] leave every subscriber with the value, whenever it came and whatever it speaks", () => {
    const texts = fc.constantFrom(
      "a",
      "é",
      "🌍",
      '"',
      "\\",
      "\n",
      "\u0001",
      "long text ".repeat(20),
      "</",
    );
    const step = fc.oneof(
      { weight: 10, arbitrary: fc.record({ do: fc.constant("append"), text: texts }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant("pass"), ms: fc.nat(300) }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant("join"), codec: fc.nat(2), delta: fc.boolean() }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constantFrom("set", "final", "end") }),
      },
    );
    const codecs = [jsonCodec, protobufCodec, messagePackCodec];
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isObject) => {
        const growing = growingMap(new NodeSql());
        const field = isObject ? { field: "t" } : {};
        let text: string | undefined;
        const readers: ReturnType<typeof growing.reader>[] = [];
        const append = (added: string, more: object = {}) => {
          const outcome = growing.append(added, { ...field, ...more });
          if (outcome.outcome !== "appended") return;
          text = (text ?? "") + added;
          expect(outcome.length).toBe(text.length);
        };
        for (const one of steps) {
          if ("text" in one) append(one.text, { at: text?.length ?? 0 });
          else if ("ms" in one) growing.pass(one.ms);
          else if ("codec" in one) readers.push(growing.reader(codecs[one.codec], one.delta));
          else if (one.do === "set") {
            text = "set";
            set(growing.map, growingKey, 0, {
              data: json(isObject ? { a: 1, t: text } : text),
              delta: true,
              nowMs: growing.nowMs,
            });
          } else append(one.do === "final" ? "!" : "", { final: true, at: text?.length ?? 0 });
        }
        growing.pass(300);
        if (text === undefined) return;
        const expected = growing.stored();
        expect(isObject ? expected : { t: expected }).toMatchObject({ t: text });
        for (const reader of readers) expect(reader.value()).toEqual(expected);
      }),
      { numRuns: 400 },
    );
  });
});

describe("what is written", () => {
  it("[Z40] is two rows a window and key, however many pieces there are, and two for the mark of all windows", () => {
    const counting = new CountingSql(new NodeSql());
    const growing = growingMap(counting, { appendWindowMs: 250 });
    growing.append("a");
    const written = () => counting.changes;
    for (const [step, rows] of [
      [() => growing.append("b"), 1],
      [() => growing.append("c"), 0],
      [() => growing.append("d"), 0],
      [() => growing.pass(250), 2],
      [() => growing.append("e"), 0],
      [() => growing.append("f"), 0],
      [() => growing.pass(250), 2],
      [() => growing.pass(250), 1],
      [() => growing.pass(10_000), 0],
      [() => growing.append("g", { final: true }), 2],
    ] as const) {
      const before = written();
      step();
      expect(written() - before).toBe(rows);
    }
    expect(growing.stored()).toBe("abcdefg");
  });
});

describe("another change of a key that grows", () => {
  it.each([
    ["a publish", (growing: Growing) => set(growing.map, growingKey, 7)],
    ["a removal", (growing: Growing) => unset(growing.map, growingKey)],
  ])("[Z43] comes after what was told of it, and ends the growth: %s", (_, change) => {
    const growing = growingMap(new NodeSql());
    const reader = growing.reader();
    growing.append("a");
    growing.append("b");
    expect(reader.value()).toBe("ab");
    change(growing);
    expect(changesOf(growing.channel).slice(0, 2)).toEqual(['answer="a"', 'answer="ab"']);
    expect(growing.channel.top?.offset).toBe(3);
    growing.pass(1_000);
    expect(growing.channel.top?.offset).toBe(3);
    expect(growing.map.growth.isTelling).toBe(false);
  });

  it("[Z43] [Z9] is compared with what is durable then", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    growing.append("b");
    expect(set(growing.map, growingKey, 7, { ifOffset: 1 })).toMatchObject({
      outcome: "suppressed",
      reason: "position_mismatch",
      currentOffset: 2,
    });
    expect(set(growing.map, growingKey, 7, { ifOffset: 2 })).toMatchObject({ outcome: "changed" });
  });

  it("[Z43] keeps its tags, its score, and the version that it has", () => {
    const growing = growingMap(new NodeSql());
    set(growing.map, growingKey, 0, {
      data: json("a"),
      tags: { room: "x" },
      score: 5,
      version: 7n,
    });
    growing.append("b");
    expect(growing.map.entry(growingKey)).toMatchObject({
      data: '"ab"',
      tags: { room: "x" },
      score: 5,
      version: 7n,
    });
    expect(set(growing.map, growingKey, 0, { version: 7n })).toMatchObject({ reason: "version" });
  });

  it("[Z43] [Z5] is forgotten with all keys", () => {
    const growing = growingMap(new NodeSql());
    const reader = growing.reader();
    growing.append("a");
    growing.append("b");
    growing.map.clear(0);
    expect(reader.subscriber.restarts).toBe(1);
    growing.pass(1_000);
    expect([growing.stored(), growing.channel.top?.offset]).toEqual([undefined, 0]);
    expect(growing.append("c", { at: 0 })).toMatchObject({ length: 1 });
  });
});

describe("a crash", () => {
  it("[Z41] within a window takes back what isn't durable, and everybody is told", () => {
    const sql = new NodeSql();
    const before = growingMap(sql);
    before.append("a");
    before.append("b");
    const since = before.channel.top;
    const after = growingMap(sql);
    expect(after.append("c", { at: 2 })).toEqual({
      outcome: "not-appended",
      reason: "length_mismatch",
      length: 1,
    });
    const { top } = after.channel;
    expect([top?.offset, top?.epoch === since?.epoch]).toEqual([1, false]);
    expect(after.channel.recover(since ?? { offset: 0, epoch: "" }, "stream", 0)).toMatchObject({
      outcome: "unrecoverable",
    });
    after.append("b", { at: 1 });
    expect(after.channel.top?.offset).toBe(2);
    after.pass(250);
    const { channel } = growingMap(sql);
    expect(channel.position(0)).toEqual({ offset: 2, epoch: top?.epoch });
  });

  it("[Z41] between two windows takes nothing back", () => {
    const sql = new NodeSql();
    const before = growingMap(sql);
    for (const text of "abc") before.append(text);
    before.pass(250);
    before.pass(250);
    const after = growingMap(sql);
    expect(after.channel.position(0)).toEqual(before.channel.top);
    expect(after.append("d", { at: 3 })).toMatchObject({ length: 4 });
  });

  it("[Z41] of a map without windows takes nothing back", () => {
    const sql = new NodeSql();
    const before = growingMap(sql, { appendWindowMs: 0 });
    for (const text of "abc") before.append(text);
    const after = growingMap(sql, { appendWindowMs: 0 });
    expect(after.channel.position(0)).toEqual({ ...before.channel.top, offset: 3 });
  });
});

describe("who was away", () => {
  it("[Z42] gets one entry for each key that has grown, with its whole value, and all other changes", () => {
    const growing = growingMap(new NodeSql(), { appendWindowMs: 0 });
    set(growing.map, "other", 1);
    const since = { epoch: growing.channel.top?.epoch ?? "", offset: 0 };
    for (const text of "abc") growing.append(text);
    set(growing.map, "other", 2);
    growing.append("d");
    const { channel, map } = growing;
    const expected = {
      publications: [
        { key: "other", data: "1", offset: 1 },
        { key: "other", data: "2", offset: 5 },
        { key: growingKey, data: '"abcd"', offset: 6 },
      ],
    };
    expect(channel.recover(since, "stream", 0)).toMatchObject(expected);
    expect(map.changesAfter(since, 100, 0, 100_000)).toMatchObject(expected);
  });
});

describe("keys that end", () => {
  it("[Z40] [Z6] live on from the last piece that is durable", () => {
    const options = { mode: "recoverable", keyTtlMs: 2_000 } as const;
    const growing = growingMap(new NodeSql(), options);
    growing.append("a");
    growing.nowMs = 100;
    growing.append("b");
    // The timer of the window is late.
    growing.nowMs = 2_100;
    growing.map.expire(growing.nowMs);
    expect(growing.stored()).toBe("ab");
    growing.nowMs = 5_100;
    growing.map.expire(growing.nowMs);
    expect(growing.stored()).toBeUndefined();
    expect(growing.append("c", { at: 0 })).toMatchObject({ length: 1 });
  });
});

describe("an ephemeral map", () => {
  it("[Z40] [Z11] tells the value at the end of each window, and writes no row for it", () => {
    const counting = new CountingSql(new NodeSql());
    const growing = growingMap(counting, { mode: "ephemeral", keyTtlMs: 60_000 });
    const reader = growing.reader(jsonCodec, false);
    growing.append("a");
    expect(reader.value()).toBe("a");
    const before = counting.changes;
    growing.append("b", { at: 1 });
    growing.append("c", { at: 2 });
    expect(reader.value()).toBe("a");
    growing.pass(250);
    expect([reader.value(), counting.changes - before]).toEqual(["abc", 0]);
  });
});

describe("bounds", () => {
  it("[Z44] refuse a text that would be longer than a value may be", () => {
    const growing = growingMap(new NodeSql());
    growing.append("x".repeat(growthLimits.grownValueBytesMax - 3));
    const refused = {
      outcome: "failed",
      error: { code: 106, message: "limit exceeded: value length" },
    };
    expect(growing.append("é")).toMatchObject(refused);
    expect(growing.append("y")).toMatchObject({ outcome: "appended" });
    expect(growing.append("z")).toMatchObject(refused);
  });

  it("[Z44] refuse more pieces a second than a key may have, and than a map may have", () => {
    const growing = growingMap(new NodeSql());
    const tooFast = { outcome: "failed", error: { code: 111, temporary: true } };
    const { keyAppendsBurst: burst, keyAppendsPerSecond: perSecond } = growthLimits;
    for (let number = 0; number < burst; number++)
      expect(growing.append("x")).toMatchObject({ outcome: "appended" });
    expect(growing.append("x")).toMatchObject(tooFast);
    growing.nowMs = 1_000;
    for (let number = 0; number < perSecond; number++)
      expect(growing.append("x")).toMatchObject({ outcome: "appended" });
    expect(growing.append("x")).toMatchObject(tooFast);
    expect(growing.append("", { at: burst + perSecond })).toMatchObject({ outcome: "appended" });
    const left = growthLimits.mapAppendsBurst - perSecond;
    let appended = 0;
    for (let number = 0; number < left + 10; number++)
      if (growing.append("x", { key: `key${number % 100}` }).outcome === "appended") appended++;
    expect(appended).toBeGreaterThan(left - burst - 1);
    expect(appended).toBeLessThan(left + 10);
  });

  it("[Z44] refuse a further key while so many grow, until one is quiet", () => {
    const growing = growingMap(new NodeSql());
    for (let number = 0; number < growthLimits.growingKeysMax; number++)
      growing.append("x", { key: `key${number}` });
    growing.append("y", { key: "key0" });
    const refused = { error: { code: 106, message: "limit exceeded: growing keys" } };
    expect(growing.append("x")).toMatchObject(refused);
    growing.nowMs = growthLimits.growingKeyIdleMs;
    expect(growing.append("x")).toMatchObject({ outcome: "appended" });
    expect(growing.append("z", { key: "key0", at: 2 })).toMatchObject({ outcome: "appended" });
  });
});

type Growing = ReturnType<typeof growingMap>;
