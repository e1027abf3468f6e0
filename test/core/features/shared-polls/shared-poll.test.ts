import { describe, expect, it } from "vitest";
import { pollLimits } from "../../../../src/features/shared-polls/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { SharedPoll } from "../../../../src/features/shared-polls/shared-poll.ts";
import { PollFixture, pollOptions, shown } from "./poll-fixture.ts";

const versioned = { mode: "versioned", publishEnabled: true } as const;
const published = (key: string, data: string, version: bigint, epoch = "") => ({
  key,
  data: trustedJsonText(data),
  version,
  epoch,
});

/** A fixture that can keep no further data: a key that only the channel's own object tracks has taken all room. */
function filled(): PollFixture {
  const fixture = new PollFixture();
  fixture.track("", "filler");
  fixture.answerAll({ filler: `"${"x".repeat(pollLimits.polledDataMax - 2)}"` });
  fixture.poll.takeOwn();
  return fixture;
}

describe("values without versions", () => {
  it("[SP12] get one with each other content, from 1 on, and are told only then", () => {
    const fixture = new PollFixture();
    expect(fixture.track("g", "a", "b")).toEqual([]);
    expect(fixture.answerAll({ a: "1", b: "1" })).toEqual(["a", "b"]);
    expect(fixture.delivered("g")).toEqual(["a@1=1", "b@2=1"]);
    fixture.nowMs = 10_000;
    fixture.answerAll({ a: "1", b: "2" });
    expect(fixture.delivered("g")).toEqual(["b@3=2"]);
    fixture.nowMs = 20_000;
    fixture.answerAll({});
    expect(fixture.delivered("g")).toEqual([]);
  });

  it("[SP12] never get a version again, also after all have left the key", () => {
    const fixture = new PollFixture();
    fixture.track("", "a");
    fixture.answerAll({ a: "1" });
    fixture.own();
    fixture.poll.untrack("", ["a"]);
    fixture.questions();
    fixture.nowMs = 1_000;
    fixture.questions();
    expect(fixture.poll.active).toBe(false);
    fixture.track("", ["a", 1n]);
    fixture.answerAll({ a: "1" });
    expect(fixture.own()).toEqual(["a@2=1"]);
  });

  it("[SP12][SP18] are compared by a hash where their data isn't kept, and asked for again for newcomers", () => {
    const fixture = filled();
    fixture.track("g", "a");
    fixture.answerAll({ a: "1" });
    expect(fixture.delivered("g")).toEqual(["a@2=1"]);
    fixture.nowMs = 10_000;
    fixture.answerAll({ a: "1" });
    expect(fixture.delivered("g")).toEqual([]);
    expect(fixture.track("h", "a")).toEqual([]);
    expect(fixture.answerAll({ a: "1" })).toEqual(["a"]);
    expect(fixture.delivered("h")).toEqual(["a@2=1"]);
    fixture.nowMs = 20_000;
    fixture.answerAll({ a: "2" });
    expect(fixture.delivered("g")).toEqual(["a@3=2"]);
  });
});

describe("values with versions", () => {
  it("[SP6] a key is asked for from the version that everybody has who tracks it", () => {
    const fixture = new PollFixture(versioned);
    fixture.track("g", ["a", 7n]);
    fixture.track("h", ["a", 4n]);
    expect(fixture.questions().map(({ items }) => items)).toEqual([[{ key: "a", version: 4n }]]);
  });

  it("[SP11] are published where that is switched on, to keys that somebody tracks", () => {
    const off = new PollFixture({ mode: "versioned" });
    const versionless = new PollFixture({ publishEnabled: true });
    expect(off.poll.publish(published("a", "1", 1n))).toBe("not-available");
    expect(versionless.poll.publish(published("a", "1", 1n))).toBe("not-available");
    const fixture = new PollFixture(versioned);
    expect(fixture.poll.publish(published("a", "1", 1n))).toBe("taken");
    expect(fixture.poll.active).toBe(false);
  });

  it("[SP8] of another epoch end what is tracked, at every watcher", () => {
    const fixture = new PollFixture(versioned);
    fixture.track("g", "a");
    fixture.track("", "a");
    fixture.answerAll({ a: ["1", 5n] }, "one");
    expect(fixture.poll.epoch).toBe("one");
    expect(fixture.poll.active).toBe(false);
    const [call] = fixture.poll.deliveries(0);
    expect(call?.batch).toMatchObject({ epoch: "one", changes: [] });
    expect(fixture.own()).toEqual([]);
    // An answer without an epoch says nothing about it.
    fixture.track("g", "a");
    fixture.answerAll({ a: ["1", 5n] });
    expect([fixture.poll.epoch, fixture.poll.size]).toEqual(["one", 1]);
    fixture.poll.publish(published("a", "1", 1n, "two"));
    expect([fixture.poll.epoch, fixture.poll.size]).toEqual(["two", 0]);
  });

  it("[SP8] a call of the epoch before that failed isn't made again", () => {
    const fixture = new PollFixture(versioned);
    fixture.track("g", "a");
    fixture.answerAll({ a: ["1", 5n] });
    const [call] = fixture.poll.deliveries(0);
    fixture.poll.publish(published("a", "1", 1n, "two"));
    if (call !== undefined) fixture.poll.delivered(call, "failed", 0);
    fixture.nowMs = pollLimits.pollCallRetryMs;
    const [again] = fixture.poll.deliveries(fixture.nowMs);
    expect(again?.batch).toMatchObject({ epoch: "two", changes: [] });
  });

  it("[SP7][SP8] nor is it if the new epoch has the same version of the key", () => {
    const fixture = new PollFixture(versioned);
    fixture.track("g", "a");
    fixture.answerAll({ a: ["old", 5n] }, "one");
    fixture.delivered("g");
    fixture.track("g", "a");
    fixture.answerAll({ a: ["old", 5n] }, "one");
    const [call] = fixture.poll.deliveries(0);
    expect(call?.batch.changes).toHaveLength(1);
    fixture.poll.publish(published("a", "x", 1n, "two"));
    fixture.track("g", "a");
    fixture.poll.publish(published("a", "new", 5n, "two"));
    if (call !== undefined) fixture.poll.delivered(call, "failed", 0);
    fixture.nowMs = pollLimits.pollCallRetryMs;
    expect(fixture.delivered("g")).toEqual(["a@5=new"]);
  });
});

describe("whoever tracks a key", () => {
  it("[SP17] is told later what doesn't fit into the reply", () => {
    const fixture = new PollFixture();
    fixture.track("g", "a", "b");
    fixture.answerAll({ a: "1", b: "1" });
    fixture.delivered("g");
    const known = ["a", "b"].map((key) => ({ key, version: 0n }));
    const reply = fixture.poll.track("h", known, 0, 150);
    expect(reply.outcome === "tracking" && shown(reply.newer)).toEqual(["a@1=1"]);
    expect(fixture.delivered("h")).toEqual(["b@2=1"]);
  });

  it("[SP3] has the backend asked for as long as it tracks it, and the delay after that", () => {
    const fixture = new PollFixture();
    fixture.track("g", "a");
    fixture.answerAll({ a: "1" });
    fixture.delivered("g");
    fixture.poll.untrack("g", ["a"]);
    fixture.nowMs = 10_000;
    expect(fixture.questions()).toEqual([]);
    // Within the delay, what the backend said counts on.
    fixture.nowMs = 10_999;
    expect(fixture.track("g", "a")).toEqual(["a@1=1"]);
    fixture.poll.untrack("g", ["a"]);
    fixture.questions();
    expect(fixture.poll.dueAtMs(10_999)).toBe(11_999);
    fixture.nowMs = 11_999;
    fixture.questions();
    expect([fixture.poll.active, fixture.poll.dueAtMs(11_999)]).toEqual([false, undefined]);
  });

  it("[SP2] is told once that a key was removed, and tracks it no more", () => {
    const fixture = new PollFixture();
    fixture.track("g", "a");
    fixture.track("", "a");
    fixture.answerAll({ a: "1" });
    fixture.delivered("g");
    fixture.own();
    fixture.nowMs = 10_000;
    fixture.answerAll({ a: "removed" });
    expect([fixture.delivered("g"), fixture.own()]).toEqual([["a removed"], ["a removed"]]);
    expect(fixture.poll.active).toBe(false);
  });

  it("[SP9] is refused beyond limits.polledKeysMax keys of the channel, with all that it asks for", () => {
    const fixture = new PollFixture();
    const keys = Array.from({ length: pollLimits.polledKeysMax }, (_, index) => `${index}`);
    expect(fixture.track("g", ...keys)).toEqual([]);
    expect(fixture.track("h", "0", "new")).toEqual(["full"]);
    expect(fixture.poll.size).toBe(pollLimits.polledKeysMax);
    expect(fixture.track("h", "0")).toEqual([]);
  });

  it("[SP9] is refused beyond limits.polledKeysLengthMax characters of the channel's keys", () => {
    const fixture = new PollFixture();
    const length = limits.mapKeyBytesMax;
    const keys = Array.from({ length: pollLimits.polledKeysLengthMax / length }, (_, index) =>
      `${index}`.padEnd(length, "x"),
    );
    expect(fixture.track("g", ...keys)).toEqual([]);
    expect(fixture.track("g", "y")).toEqual(["full"]);
    fixture.poll.untrack("g", ["0".padEnd(length, "x")]);
    fixture.questions();
    fixture.nowMs = 1_000;
    fixture.questions();
    expect(fixture.track("g", "y")).toEqual([]);
  });

  it("[SP16] isn't told of keys that the backend wasn't asked for", () => {
    const fixture = new PollFixture();
    fixture.track("g", "a");
    const [question] = fixture.questions();
    fixture.track("g", "b");
    const items = ["a", "b", "c"].map((key) => ({
      key,
      data: trustedJsonText("1"),
      version: undefined,
    }));
    if (question !== undefined) fixture.poll.answered(question, { items, epoch: "" }, 0);
    expect(fixture.delivered("g")).toEqual(["a@1=1"]);
  });
});

describe("a gateway", () => {
  it("[SP7] that fails isn't told of a value after a newer one", () => {
    const fixture = new PollFixture();
    fixture.track("g", "a", "b");
    fixture.answerAll({ a: "1", b: "1" });
    const [call] = fixture.poll.deliveries(0);
    fixture.nowMs = 10_000;
    fixture.answerAll({ a: "2", b: "removed" });
    fixture.track("g", "b");
    if (call !== undefined) fixture.poll.delivered(call, "failed", 10_000);
    fixture.nowMs = 19_000;
    // The removed key is tracked again, and what it was doesn't count.
    expect(fixture.delivered("g")).toEqual(["a@3=2"]);
    fixture.answerAll({ b: "2" });
    expect(fixture.delivered("g")).toEqual(["b@4=2"]);
  });

  it("[SP7] that fails gets the newest value of each key, after a pause that grows", () => {
    const fixture = new PollFixture({ refreshIntervalMs: 3_600_000 });
    fixture.track("g", "a", "b");
    fixture.answerAll({ a: "1", b: "1" });
    const pauses: number[] = [];
    for (const reply of ["busy", ...Array.from({ length: 9 }, () => "failed")]) {
      const [call] = fixture.poll.deliveries(fixture.nowMs);
      const failed = reply === "busy" ? ({ outcome: "busy" } as const) : "failed";
      if (call !== undefined) fixture.poll.delivered(call, failed, fixture.nowMs);
      const dueMs = fixture.poll.dueAtMs(fixture.nowMs) ?? 0;
      pauses.push(dueMs - fixture.nowMs);
      expect(fixture.poll.deliveries(dueMs - 1)).toEqual([]);
      fixture.nowMs = dueMs;
    }
    expect([pauses[0], pauses[1], pauses.at(-1)]).toEqual([
      pollLimits.pollCallRetryMs,
      pollLimits.pollCallRetryMs * 2,
      pollLimits.pollCallRetryMsMax,
    ]);
    fixture.nowMs = 3_600_000;
    fixture.answerAll({ a: "2", b: "1" });
    expect(fixture.delivered("g").toSorted()).toEqual(["a@3=2", "b@2=1"]);
  });

  it("[SP8] that says it tracks nothing is forgotten, but for what it has tracked since", () => {
    const fixture = new PollFixture();
    fixture.track("g", "a", "b");
    fixture.answerAll({ a: "1", b: "1" });
    const [call] = fixture.poll.deliveries(0);
    fixture.track("g", "b");
    if (call !== undefined) fixture.poll.delivered(call, { outcome: "left" }, 0);
    fixture.nowMs = 10_000;
    fixture.answerAll({ a: "2", b: "2" });
    expect(fixture.delivered("g")).toEqual(["b@3=2"]);
  });

  it("[SP8] that isn't called is asked after a while whether it still tracks keys", () => {
    const fixture = new PollFixture({ refreshIntervalMs: 3_600_000 });
    fixture.track("g", "a");
    fixture.answerAll({ a: "1" });
    expect(fixture.delivered("g")).toEqual(["a@1=1"]);
    expect(fixture.poll.dueAtMs(0)).toBe(pollLimits.pollCheckMs);
    expect(fixture.poll.deliveries(pollLimits.pollCheckMs - 1)).toEqual([]);
    const [call] = fixture.poll.deliveries(pollLimits.pollCheckMs);
    expect(call?.batch.changes).toEqual([]);
    if (call !== undefined)
      fixture.poll.delivered(call, { outcome: "left" }, pollLimits.pollCheckMs);
    fixture.nowMs = pollLimits.pollCheckMs + 1_000;
    fixture.questions();
    fixture.nowMs += 1_000;
    fixture.questions();
    expect(fixture.poll.active).toBe(false);
  });

  it("[SP8] that followed the instance before is called, to tell it that its keys aren't known", () => {
    const relay = { instance: 7, gateways: ["g"] };
    const poll = SharedPoll.begin("prices:eu", pollOptions(), relay, () => "new", 0);
    const [call] = poll.deliveries(0);
    expect(call).toMatchObject({ gateway: "g", batch: { instance: 7, epoch: "new", changes: [] } });
    if (call !== undefined) poll.delivered(call, { outcome: "left" }, 0);
    expect(poll.dueAtMs(0)).toBeUndefined();
  });

  it("[SP10] has an alarm set until it was told that its keys are lost", () => {
    const relay = { instance: 7, gateways: ["g"] };
    const poll = SharedPoll.begin("prices:eu", pollOptions(), relay, () => "new", 0);
    expect(poll.active).toBe(false);
    expect(poll.alarmAtMs(0)).toBe(pollLimits.pollAlarmMs);
    const [call] = poll.deliveries(0);
    expect(poll.alarmAtMs(1)).toBe(pollLimits.pollAlarmMs + 1);
    if (call !== undefined) poll.delivered(call, { outcome: "taken" }, 0);
    expect(poll.alarmAtMs(2)).toBe(Number.POSITIVE_INFINITY);
  });

  it("[SP7] that is slow has no more than limits.polledWaitingMax waiting of what isn't kept, and gets it later", () => {
    const fixture = filled();
    const large = `"${"x".repeat(pollLimits.polledWaitingMax / 2)}"`;
    fixture.track("g", "a", "b");
    expect(fixture.answerAll({ a: large, b: large })).toEqual(["a", "b"]);
    const keysOf = () => fixture.delivered("g").map((line) => line.slice(0, line.indexOf("@")));
    expect([keysOf(), keysOf()]).toEqual([["a"], []]);
    fixture.nowMs = 10_000;
    fixture.answerAll({ a: large, b: large });
    expect(keysOf()).toEqual(["b"]);
  });

  it.each([
    ["changes", pollLimits.pollBatchChangesMax + 1, "1", pollLimits.pollBatchChangesMax],
    ["bytes", 3, `"${"x".repeat(pollLimits.pollBatchBytesMax / 2)}"`, 1],
  ])("[SP7] gets no more %s in one call than limits allow", (_, count, data, expected) => {
    const fixture = new PollFixture({ refreshBatchSize: 10_000 });
    const keys = Array.from({ length: count }, (__, index) => `k${index}`);
    fixture.track("g", ...keys);
    fixture.answerAll(Object.fromEntries(keys.map((key) => [key, data])));
    const [call] = fixture.poll.deliveries(0);
    expect(call?.batch.changes).toHaveLength(expected);
    if (call !== undefined) fixture.poll.delivered(call, { outcome: "taken" }, 0);
    expect(fixture.poll.deliveries(0)[0]?.batch.changes).toHaveLength(1);
  });
});

it("[SP5] a failed question tells nobody anything, and the next cycle asks again", () => {
  const fixture = new PollFixture({ refreshIntervalMs: 500 });
  fixture.track("g", "a");
  const [question] = fixture.questions();
  if (question !== undefined) fixture.poll.answered(question, undefined, 0);
  expect([fixture.delivered("g"), fixture.poll.dueAtMs(0)]).toEqual([[], 500]);
  fixture.nowMs = 500;
  expect(fixture.answerAll({ a: "1" })).toEqual(["a"]);
  expect(fixture.delivered("g")).toEqual(["a@1=1"]);
});

it("[SP19] a gateway's request to untrack keys has no effect after a later one that tracks keys", () => {
  const fixture = new PollFixture();
  fixture.track("g", "a");
  fixture.poll.noteRequest("g", 5);
  fixture.poll.untrack("g", ["a"], 4);
  fixture.answerAll({ a: "1" });
  expect(fixture.delivered("g")).toEqual(["a@1=1"]);
  fixture.poll.untrack("g", ["a"], 6);
  fixture.nowMs = 10_000;
  expect(fixture.answerAll({ a: "2" })).toEqual([]);
});
