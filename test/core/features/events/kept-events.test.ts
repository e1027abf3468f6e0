import { describe, expect, it } from "vitest";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { beginDue, countedWrites, eventsIn, openOutbox, published } from "./outbox-fixture.ts";

/** When the tests' first event happens. */
const startMs = 1_000_000;

describe("the events that an outbox keeps", () => {
  it.each(["awake", "evicted"])("[E18] keeps 64 MiB, and sends a gap for the rest, %s", (state) => {
    const sql = new NodeSql();
    const keepMax = 10_000;
    let outbox = openOutbox(sql, { keepMax });
    const payload = `"${"ä".repeat(524_287)}"`;
    for (let count = 0; count < 120; count++) {
      outbox.append(published(payload), startMs);
      if (state === "evicted") outbox = openOutbox(sql, { keepMax });
    }
    const [kept] = sql.rows(
      "SELECT count(*) AS count, sum(octet_length(body)) AS bytes FROM event",
    );
    // 64 wouldn't fit with their other fields.
    expect(kept?.["count"]).toBe(63);
    expect(kept?.["bytes"]).toBeLessThanOrEqual(eventLimits.eventsBytesMax);
    const gap = { type: "gap", from: startMs, to: startMs + 56 };
    const [first, second] = eventsIn(beginDue(outbox, startMs + 100).body);
    expect([first, second?.number]).toMatchObject([{ ...gap, number: gap.to }, gap.to + 1]);
    const [asked] = outbox.after(startMs - 5, 1, startMs);
    expect(JSON.parse(asked ?? "")).toMatchObject(gap);
    expect(outbox.after(0, 1, startMs)[0]).toContain(`"number":${gap.to + 1},`);
  });

  it("[E18] [E6] keeps the newest events that fit in both bounds, wherever the ring wraps", () => {
    const sql = new NodeSql();
    const mebibyte = 1_048_576;
    const sizes = {
      few: [mebibyte, mebibyte / 2],
      many: [1, mebibyte / 2, 100],
      mixed: [7, mebibyte],
    };
    let keepMax = 100;
    let outbox = openOutbox(sql, { keepMax });
    const kept: number[] = [];
    let number = startMs;
    for (const [kind, lengths] of Object.entries({ ...sizes, again: sizes.few })) {
      for (let count = 0; count < 150; count++) {
        const length = lengths[count % lengths.length] ?? 0;
        outbox.append(published("1".repeat(length)), startMs);
        kept.push(length + bytesBesides);
        while (kept.length > keepMax || sum(kept) > eventLimits.eventsBytesMax) kept.shift();
        number++;
        if (count % 7 === 0) outbox = openOutbox(sql, { keepMax });
        const [row] = sql.rows("SELECT count(*) AS count, min(number) AS oldest FROM event");
        expect([kind, row]).toEqual([kind, { count: kept.length, oldest: number - kept.length }]);
      }
      // The ring moves, and what it keeps is known afterwards.
      keepMax += 30;
      outbox = openOutbox(sql, { keepMax });
    }
    expect(outbox.last).toBe(number - 1);
  });

  it("[E18] [E7] writes a row for each event that makes room, and reads few when it wakes", () => {
    const sql = new NodeSql();
    const counted = countedWrites(sql);
    const big = published("1".repeat(1_000_000));
    const outbox = openOutbox(counted, { keepMax: 1_000 });
    for (let count = 0; count < 68; count++) outbox.append(big, startMs);
    counted.count = 0;
    counted.read = 0;
    for (let count = 0; count < 10; count++) outbox.append(big, startMs);
    expect([counted.count, counted.read]).toEqual([20, 10]);
    counted.read = 0;
    openOutbox(counted, { keepMax: 1_000 });
    expect(counted.read).toBeLessThan(20);
  });
});

/** What a publication of {@link published} takes besides its payload. */
const bytesBesides = '"type":"publication","channel":"news","data":'.length;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
