import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Outbox } from "../../../../src/features/events/outbox.ts";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import type { Sql } from "../../../../src/sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import {
  beginDue,
  countedWrites,
  eventsIn,
  openOutbox,
  published,
  shown,
  shownBatch,
} from "./outbox-fixture.ts";

/** When the tests' first event happens. */
const startMs = 1_000_000;
const dayMs = 86_400_000;

function add(outbox: Outbox, first: number, last: number, nowMs = startMs): void {
  for (let data = first; data <= last; data++) outbox.append(published(data), nowMs);
}

/** Takes everything that waits, a batch after the other. */
function drain(outbox: Outbox, nowMs: number): readonly (number | string)[] {
  const all: (number | string)[] = [];
  for (
    let dueAtMs = outbox.dueAtMs(Number.POSITIVE_INFINITY);
    dueAtMs !== undefined;
    dueAtMs = outbox.dueAtMs(Number.POSITIVE_INFINITY)
  ) {
    const atMs = Math.max(nowMs, dueAtMs);
    const batch = beginDue(outbox, atMs);
    all.push(...shown(batch));
    outbox.answered(batch, true, atMs);
  }
  return all;
}

describe("an outbox", () => {
  it("[E2] [E15] numbers its events from the time of the first one, without holes, across instances", () => {
    const sql = new NodeSql();
    add(openOutbox(sql), 1, 2);
    const outbox = openOutbox(sql);
    add(outbox, 3, 3, startMs + 5);
    const common = { object: "channel/news", type: "publication", channel: "news" };
    expect(eventsIn(beginDue(outbox, startMs + 200).body)).toStrictEqual([
      { ...common, number: startMs, time: startMs, first: true, data: 1 },
      { ...common, number: startMs + 1, time: startMs, data: 2 },
      { ...common, number: startMs + 2, time: startMs + 5, data: 3 },
    ]);
  });

  it("[E7] sends the first event after 100 ms, later ones 1 s after the answer, and a full batch at once", () => {
    const outbox = openOutbox(new NodeSql());
    add(outbox, 1, 1);
    expect(outbox.beginInMs(startMs)).toBe(eventLimits.eventsFirstWaitMs);
    expect(outbox.begin(startMs + 99)).toBeUndefined();
    const first = beginDue(outbox, startMs + 100);
    expect(shown(first)).toEqual([1]);
    add(outbox, 2, 3, startMs + 150);
    // One at a time.
    expect(outbox.begin(startMs + 5_000)).toBeUndefined();
    expect(outbox.beginInMs(startMs + 5_000)).toBeUndefined();
    outbox.answered(first, true, startMs + 200);
    expect(outbox.beginInMs(startMs + 200)).toBe(eventLimits.eventsPauseMs);
    add(outbox, 4, 4, startMs + 300);
    expect(outbox.beginInMs(startMs + 300)).toBe(0);
    expect(shownBatch(outbox, startMs + 300)).toEqual([2, 3, 4]);
  });

  it("[E2] sends at most batch_max events at once, and the rest after them", () => {
    const outbox = openOutbox(new NodeSql());
    add(outbox, 1, 7);
    const batches: (readonly (number | string)[])[] = [];
    for (
      let nowMs = startMs + 100;
      outbox.dueAtMs(Number.POSITIVE_INFINITY) !== undefined;
      nowMs += 1_000
    ) {
      const batch = beginDue(outbox, nowMs);
      batches.push(shown(batch));
      outbox.answered(batch, true, nowMs);
    }
    expect(batches).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  });

  it("[E2] [B1] sends at most 1 MiB at once, and a larger event alone", () => {
    const outbox = openOutbox(new NodeSql());
    const max = eventLimits.eventsBatchBytesMax;
    // Two events of half the size don't fit with their other fields, and somewhat smaller ones do.
    for (const length of [max / 2, max / 2, max / 2 - 1_000, max - 2, 1])
      outbox.append(published(`"${"x".repeat(length)}"`), startMs);
    const counts: number[] = [];
    while (outbox.dueAtMs(Number.POSITIVE_INFINITY) !== undefined) {
      const batch = beginDue(outbox, startMs + 60_000);
      counts.push(eventsIn(batch.body).length);
      outbox.answered(batch, true, startMs);
    }
    expect(counts).toEqual([1, 2, 1, 1]);
  });

  it("[E2] sends a queue no data over its limit, but its size", () => {
    const outbox = openOutbox(new NodeSql(), { target: { kind: "queue", binding: "EVENTS" } });
    for (const bytes of [
      eventLimits.eventsQueueDataBytesMax,
      eventLimits.eventsQueueDataBytesMax + 2,
    ])
      outbox.append(published(`"${"ä".repeat((bytes - 2) / 2)}"`), startMs);
    outbox.append(published(1), startMs);
    const { body } = beginDue(outbox, startMs + 100);
    expect(body).toContain('"data":"ää');
    expect(body).toContain('"data_bytes":65538}');
    expect(new TextEncoder().encode(body).byteLength).toBeLessThan(eventLimits.eventsQueueBytesMax);
  });

  it("[E2] [W7] sends JSON as it was written and other bytes in base64", () => {
    const outbox = openOutbox(new NodeSql());
    outbox.append({ type: "publication", data: new Uint8Array([0xff]) }, startMs);
    outbox.append(published('{"n":1.00}'), startMs);
    const { body } = beginDue(outbox, startMs + 100);
    expect(body).toContain('"b64data":"/w=="}');
    expect(body).toContain('"data":{"n":1.00}}');
  });

  it("[E4] repeats a batch that wasn't taken, after pauses that double up to 5 minutes", () => {
    const outbox = openOutbox(new NodeSql());
    add(outbox, 1, 2);
    const first = eventLimits.eventsRetryMs;
    expect(failures(outbox, startMs + 100, 4)).toEqual([first, 2 * first, 4 * first, 8 * first]);
    // However many wait.
    add(outbox, 3, 5);
    const dueAtMs = outbox.dueAtMs(Number.POSITIVE_INFINITY) ?? 0;
    expect(dueAtMs).toBe(startMs + 15_100);
    expect(outbox.begin(dueAtMs - 1)).toBeUndefined();
    expect(failures(outbox, dueAtMs, 8).slice(-4)).toEqual([256_000, 300_000, 300_000, 300_000]);
    expect(eventLimits.eventsRetryMsMax).toBe(300_000);
    expect(shownBatch(outbox, outbox.dueAtMs(Number.POSITIVE_INFINITY) ?? 0)).toEqual([1, 2, 3]);
  });

  it("[E4] goes on with the next longer pause after hibernation, and keeps to a pause", () => {
    const sql = new NodeSql();
    const outbox = openOutbox(sql);
    add(outbox, 1, 1);
    const [pauseMs = 0] = failures(outbox, startMs + 100, 6).slice(-1);
    expect(pauseMs).toBe(32_000);
    const dueAtMs = outbox.dueAtMs(Number.POSITIVE_INFINITY);
    const awoken = openOutbox(sql);
    expect(awoken.dueAtMs(Number.POSITIVE_INFINITY)).toBe(dueAtMs);
    expect(awoken.beginInMs((dueAtMs ?? 0) - pauseMs)).toBeUndefined();
    expect(awoken.alarmAtMs((dueAtMs ?? 0) - pauseMs)).toBe(dueAtMs);
    expect(failures(awoken, dueAtMs ?? 0, 1)).toEqual([64_000]);
    expect(drain(awoken, startMs + dayMs / 2)).toEqual([1]);
  });

  it("[E6] sends a gap in place of events that newer ones have overwritten", () => {
    const sql = new NodeSql();
    const outbox = openOutbox(sql, { keepMax: 10, batchMax: 100 });
    add(outbox, 1, 14);
    const body = beginDue(outbox, startMs + 100).body;
    expect(eventsIn(body)[0]).toStrictEqual({
      object: "channel/news",
      number: startMs + 3,
      time: startMs + 100,
      type: "gap",
      from: startMs,
      to: startMs + 3,
    });
    expect(eventsIn(body).map(({ number }) => number - startMs)).toEqual(
      Array.from({ length: 11 }, (_, index) => index + 3),
    );
  });

  it("[E6] sends a gap in place of events that are older than keep", () => {
    const outbox = openOutbox(new NodeSql(), { keepMs: 60_000 });
    add(outbox, 1, 2);
    add(outbox, 3, 3, startMs + 30_000);
    expect(shownBatch(outbox, startMs + 60_001)).toEqual([`gap ${startMs}-${startMs + 1}`, 3]);
    const late = openOutbox(new NodeSql(), { keepMs: 60_000 });
    add(late, 1, 2);
    expect(drain(late, startMs + 60_001)).toEqual([`gap ${startMs}-${startMs + 1}`]);
  });

  it("[E16] [E15] deletes all events when they are of no use, and begins again with numbers beyond", () => {
    const sql = new NodeSql();
    const outbox = openOutbox(sql, { keepMs: 60_000 });
    add(outbox, 1, 5);
    const last = outbox.last;
    drain(outbox, startMs + 100);
    expect(outbox.alarmAtMs(startMs + 10_000)).toBe(startMs + 60_000);
    outbox.deleteExpired(startMs + 59_999);
    expect(tablesOf(sql)).toEqual(["outbox", "event"]);
    outbox.deleteExpired(startMs + 60_000);
    expect(tablesOf(sql)).toEqual(["outbox"]);
    expect([outbox.last, outbox.after(0, 9, 0), outbox.stored(0, ["publication"])]).toEqual([
      0,
      [],
      [],
    ]);
    add(outbox, 6, 6, startMs + 70_000);
    const [event] = eventsIn(beginDue(outbox, startMs + 80_000).body);
    expect(event).toMatchObject({ first: true, data: 6 });
    expect(event?.number).toBeGreaterThan(last);
  });

  it("[E16] doesn't wait for ever for a target that is away", () => {
    const outbox = openOutbox(new NodeSql(), { keepMs: 60_000 });
    add(outbox, 1, 1);
    outbox.deleteExpired(startMs + 119_999);
    expect(outbox.last).toBe(startMs);
    outbox.deleteExpired(startMs + 120_000);
    expect(outbox.last).toBe(0);
  });

  it.each(["awake", "evicted"])(
    "[E15] gives no number again after the clock was set back, %s, and forgets the last one at last",
    (state) => {
      const sql = new NodeSql();
      const opened = (outbox: Outbox) =>
        state === "awake" ? outbox : openOutbox(sql, { keepMs: 60_000 });
      let outbox = openOutbox(sql, { keepMs: 60_000 });
      add(outbox, 1, 5);
      drain(outbox, startMs + 100);
      outbox.deleteExpired(startMs + 60_000);
      outbox = opened(outbox);
      expect(outbox.storesNothing).toBe(false);
      const backMs = startMs - dayMs;
      add(outbox, 6, 6, backMs);
      const [event] = eventsIn(beginDue(outbox, backMs + 100).body);
      expect(event).toMatchObject({ number: startMs + 5, time: backMs, first: true, data: 6 });
      outbox = opened(outbox);
      expect(outbox.first).toBe(startMs + 5);
      outbox.deleteExpired(startMs);
      outbox = opened(outbox);
      const endsAtMs = startMs + 5 + eventLimits.eventsNumberMs;
      expect(outbox.alarmAtMs(startMs)).toBe(endsAtMs);
      outbox.deleteExpired(endsAtMs - 1);
      expect([outbox.storesNothing, tablesOf(sql)]).toEqual([false, ["outbox"]]);
      outbox.deleteExpired(endsAtMs);
      expect([outbox.storesNothing, tablesOf(sql)]).toEqual([true, []]);
      expect(outbox.alarmAtMs(startMs)).toBe(Number.POSITIVE_INFINITY);
      expect(opened(outbox).storesNothing).toBe(true);
    },
  );

  it("[E16] deletes events and numbering at once if the newest number is old", () => {
    const sql = new NodeSql();
    const outbox = openOutbox(sql, { keepMs: 60_000 });
    add(outbox, 1, 1);
    add(outbox, 2, 2, startMs + eventLimits.eventsNumberMs);
    drain(outbox, startMs + eventLimits.eventsNumberMs + 100);
    outbox.deleteExpired(startMs + eventLimits.eventsNumberMs + 60_000);
    expect([outbox.storesNothing, tablesOf(sql)]).toEqual([true, []]);
  });

  it("[E6] keeps what fits when keep_max changes, and knows what it lacks when it grows", () => {
    const sql = new NodeSql();
    add(openOutbox(sql, { keepMax: 10 }), 1, 13);
    const smaller = openOutbox(sql, { keepMax: 5 });
    expect(smaller.after(0, 100, startMs).map(dataOf)).toEqual([9, 10, 11, 12, 13]);
    const larger = openOutbox(sql, { keepMax: 20, batchMax: 100 });
    add(larger, 14, 15);
    expect(shownBatch(larger, startMs + 100)).toEqual([
      `gap ${startMs}-${startMs + 7}`,
      9,
      10,
      11,
      12,
      13,
      14,
      15,
    ]);
  });

  it("[E5] gives the events after a number, also those that were taken, and says what it lacks", () => {
    const outbox = openOutbox(new NodeSql(), { keepMax: 10 });
    add(outbox, 1, 14);
    drain(outbox, startMs + 100);
    const after = (since: number, limit = 100) =>
      outbox.after(since, limit, startMs + 100).map(dataOf);
    const at = (data: number) => startMs + data - 1;
    expect(after(0, 2)).toEqual([5, 6]);
    expect(after(at(12))).toEqual([13, 14]);
    expect(after(at(14))).toEqual([]);
    expect(after(at(20))).toEqual([]);
    expect(after(at(2), 2)).toEqual([`gap ${at(3)}-${at(4)}`, 5, 6]);
    expect(after(at(4), 1)).toEqual([5]);
    // A number of before the object forgot everything.
    expect(after(17, 1)).toEqual([`gap ${at(1)}-${at(4)}`, 5]);
    expect(openOutbox(new NodeSql()).after(0, 100, 0)).toEqual([]);
  });

  it("[E7] writes one row for an event, and one more when nothing waits", () => {
    const sql = new NodeSql();
    const writes = countedWrites(sql);
    const outbox = openOutbox(writes);
    add(outbox, 1, 1);
    writes.count = 0;
    for (let second = 1; second <= 50; second++) {
      const nowMs = startMs + second * 1_100;
      add(outbox, 1, 2, nowMs - 500);
      const batch = beginDue(outbox, nowMs);
      add(outbox, 3, 3, nowMs + 10);
      outbox.answered(batch, true, nowMs + 50);
    }
    expect(writes.count).toBe(150);
    drain(outbox, startMs + 100_000);
    expect(writes.count).toBe(151);
  });

  it("[E2] [E4] loses and reorders nothing, whatever fails, crashes or waits", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add" as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant("send" as const), taken: fc.boolean(), heard: fc.boolean() }),
      fc.record({ kind: fc.constant("crash" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const sql = new NodeSql();
        const keepMax = 1_000;
        let outbox = openOutbox(sql, { keepMax });
        let nowMs = startMs;
        let added = 0;
        const received: number[] = [];
        const take = (body: string): void => {
          for (const { number } of eventsIn(body))
            if (number > (received.at(-1) ?? 0)) received.push(number);
        };
        for (const one of steps) {
          nowMs += 700;
          if (one.kind === "add") {
            add(outbox, 1, one.count, nowMs);
            added += one.count;
          } else if (one.kind === "crash") outbox = openOutbox(sql, { keepMax });
          else {
            const batch = outbox.begin(nowMs);
            if (batch === undefined) continue;
            if (one.taken) take(batch.body);
            // The answer may be lost.
            outbox.answered(batch, one.taken && one.heard, nowMs);
          }
        }
        outbox = openOutbox(sql, { keepMax });
        while (outbox.dueAtMs(Number.POSITIVE_INFINITY) !== undefined) {
          const batch = beginDue(outbox, nowMs + 600_000);
          take(batch.body);
          outbox.answered(batch, true, nowMs);
        }
        const [first = 0] = received;
        expect(received).toEqual(Array.from({ length: added }, (_, index) => first + index));
      }),
    );
  });

  it("[E6] remembers what was noted with its newest event, and doesn't forget it", () => {
    const sql = new NodeSql();
    const outbox = openOutbox(sql, { keepMs: 60_000 });
    outbox.setMark("sessions", "3");
    add(outbox, 1, 1);
    const awoken = openOutbox(sql, { keepMs: 60_000 });
    expect([awoken.mark("sessions"), awoken.mark("other")]).toEqual(["3", undefined]);
    awoken.deleteExpired(startMs + dayMs);
    expect(awoken.storesNothing).toBe(false);
    awoken.setMark("sessions", undefined);
    add(awoken, 2, 2);
    expect(openOutbox(sql).mark("sessions")).toBeUndefined();
  });
});

/** Has batches fail, each when it is due, and gives the pauses after them in ms. */
function failures(outbox: Outbox, nowMs: number, count: number): readonly number[] {
  const pauses: number[] = [];
  let atMs = nowMs;
  for (let index = 0; index < count; index++) {
    outbox.answered(beginDue(outbox, atMs), false, atMs);
    const dueAtMs = outbox.dueAtMs(Number.POSITIVE_INFINITY) ?? 0;
    pauses.push(dueAtMs - atMs);
    atMs = dueAtMs;
  }
  return pauses;
}

function dataOf(event: string): number | string {
  const { type, data, from, to }: ReturnType<typeof eventsIn>[number] = JSON.parse(event);
  return type === "gap" ? `gap ${from}-${to}` : (data ?? type);
}

function tablesOf(sql: Sql): readonly unknown[] {
  return sql.rows("SELECT name FROM sqlite_master").map(({ name }) => name);
}
