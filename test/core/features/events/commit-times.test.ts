import { describe, expect, it } from "vitest";
import { CommitTimes } from "../../../../src/features/events/commit-times.ts";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { beginDue, openOutbox, published } from "./outbox-fixture.ts";

const startMs = 1_000_000;

interface TimedEvent {
  readonly data?: number;
  readonly committed_at?: number;
}

/** The payloads of a batch with the times of their commits. */
function timesIn(body: string): readonly (readonly [number | undefined, number | undefined])[] {
  const { events }: { readonly events: readonly TimedEvent[] } = JSON.parse(body);
  return events.map(({ data, committed_at: atMs }) => [data, atMs]);
}

describe("the events of publications in an outbox", () => {
  it("[E12] wait for their commit, and say when it was", () => {
    const outbox = openOutbox(new NodeSql());
    outbox.addInCommit(published(1), startMs);
    // It would be due by now.
    expect(outbox.begin(startMs + 5_000)).toBeUndefined();
    expect(outbox.beginInMs(startMs + 5_000)).toBeUndefined();
    expect(outbox.alarmAtMs(startMs)).toBeLessThan(Number.POSITIVE_INFINITY);
    outbox.committed(startMs + 5);
    outbox.addInCommit(published(2), startMs + 6);
    const batch = beginDue(outbox, startMs + 5_000);
    expect(timesIn(batch.body)).toEqual([[1, startMs + 5]]);
    outbox.committed(startMs + 9);
    outbox.answered(batch, true, startMs + 5_000);
    const next = beginDue(outbox, startMs + 9_000);
    expect(timesIn(next.body)).toEqual([[2, startMs + 9]]);
    // The same when it is repeated. It isn't stored, so who asks isn't told.
    outbox.answered(next, false, startMs + 9_000);
    expect(timesIn(beginDue(outbox, startMs + 60_000).body)).toEqual([[2, startMs + 9]]);
    const kept = outbox.after(startMs, 10, startMs + 60_000);
    expect(timesIn(`{"events":[${kept.join()}]}`)).toEqual([[2, undefined]]);
  });

  it("[E12] don't hold up those before them, and only publications say it", () => {
    const outbox = openOutbox(new NodeSql());
    outbox.append({ type: "connected", client: "c" }, startMs);
    outbox.addInCommit(published(1), startMs);
    outbox.append({ type: "disconnected", client: "c" }, startMs);
    outbox.addInCommit(published(2), startMs);
    const before = beginDue(outbox, startMs + 100);
    expect(timesIn(before.body)).toEqual([[undefined, undefined]]);
    outbox.answered(before, true, startMs + 100);
    expect(outbox.begin(startMs + 5_000)).toBeUndefined();
    outbox.committed(startMs + 5);
    expect(timesIn(beginDue(outbox, startMs + 5_000).body)).toEqual([
      [1, startMs + 5],
      [undefined, undefined],
      [2, startMs + 5],
    ]);
  });

  it("[E12] don't say it after the object has ended, and are sent all the same", () => {
    const sql = new NodeSql();
    const ended = openOutbox(sql);
    ended.addInCommit(published(1), startMs);
    expect(timesIn(beginDue(openOutbox(sql), startMs + 5_000).body)).toEqual([[1, undefined]]);
  });

  it("[E12] say when the object got them, and which trace they belong to", () => {
    const outbox = openOutbox(new NodeSql());
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    outbox.append({ ...published(1), publishedAtMs: startMs - 3, traceparent }, startMs);
    expect(beginDue(outbox, startMs + 100).body).toContain(
      `"channel":"news","traceparent":"${traceparent}","published_at":${startMs - 3},"data":1}`,
    );
  });
});

describe("the times of commits", () => {
  it("[B1] are remembered for so many commits", () => {
    const times = new CommitTimes();
    const count = eventLimits.eventsCommitTimesMax + 1;
    for (let number = 1; number <= count; number++) {
      times.written(number);
      times.committed(startMs + number);
    }
    // Nothing has been written since.
    times.committed(startMs);
    expect([times.of(1), times.of(2), times.of(count), times.of(count + 1)]).toEqual([
      undefined,
      startMs + 2,
      startMs + count,
      undefined,
    ]);
  });
});
