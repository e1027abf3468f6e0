import { expect, it } from "vitest";
import { limits } from "../../src/limits.ts";
import { RecordingSubscriber } from "../core/hub/recording-subscriber.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import {
  dueAfterEvent,
  openChannel,
  positionOf,
  positioned,
  publishNumbers,
  publishing,
  readable,
  withHistory,
} from "./open-channel.ts";
import { tableNames } from "./stored-tables.ts";

/** When publications go, and when the position goes too: rules H4 to H6 and H10. */
export function streamLifeContract(onFreshStorage: OnFreshStorage): void {
  publicationsContract(onFreshStorage);
  positionContract(onFreshStorage);
  endContract(onFreshStorage);
}

const options = { historySize: 5, historyTtlMs: 1_000, historyMetaTtlMs: 10_000 };

function publicationsContract(onFreshStorage: OnFreshStorage): void {
  it("[H4] counts the TTL from the latest time there was, when the clock is set back", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      publishNumbers(channel, 1, 1, 5_000);
      publishNumbers(channel, 2, 2, 4_500);
      for (const opened of [channel, openChannel(sql, { options, nowMs: 4_500 })]) {
        expect(readable(opened, 4_500)).toEqual(["1", "2"]);
        expect(readable(opened, 5_999)).toEqual(["1", "2"]);
        expect(readable(opened, 6_000)).toEqual([]);
      }
    });
  });

  it("[H10] leaves a channel that has no stream without one", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      expect(channel.removeHistory(0)).toBe("removed");
      expect(tableNames(sql)).toEqual([]);
    });
  });
}

function positionContract(onFreshStorage: OnFreshStorage): void {
  it("[H5] keeps the position that a subscriber was given before anything was published", async () => {
    await onFreshStorage((sql) => {
      const reader = new RecordingSubscriber("reader");
      const joined = openChannel(sql, { options }).subscribe(reader, positioned, 0);
      const reopened = openChannel(sql, { options });
      const position = positionOf(reopened);
      expect(joined).toEqual({
        outcome: "subscribed",
        position: { ...position, offset: 0 },
        recovered: false,
        publications: [],
      });
      expect(reopened.publish(publishing(1), undefined, 0)).toMatchObject({
        position: { ...position, offset: 1 },
      });
    });
  });
}

function endContract(onFreshStorage: OnFreshStorage): void {
  it("[H6] forgets the stream a meta TTL after the newest publication, and not before", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      publishNumbers(channel, 1, 2, 500);
      const position = positionOf(channel, 500);
      expect(channel.cleanupDueAtMs(500)).toBe(10_500);
      channel.deleteExpired(10_499);
      expect(channel.storesNothing).toBe(false);
      expect(positionOf(openChannel(sql, { options }), 10_499)).toEqual(position);
      const reopened = openChannel(sql, { options, nowMs: 10_500 });
      expect(reopened.cleanupDueAtMs(10_500)).toBe(10_500);
      reopened.deleteExpired(10_500);
      expect(reopened.storesNothing).toBe(true);
      expect(reopened.cleanupDueAtMs(10_500)).toBeUndefined();
      expect(tableNames(sql)).toEqual([]);
    });
  });

  const asks = {
    publish: (channel) => channel.publish(publishing(3), undefined, 10_000),
    history: (channel) => channel.history({ limit: -1, reverse: false }, 10_000),
    removeHistory: (channel) => channel.removeHistory(10_000),
    join: (channel) => channel.subscribe(new RecordingSubscriber("late"), positioned, 10_000),
  } satisfies Record<string, (channel: ReturnType<typeof openChannel>) => object | string>;

  it.each(Object.entries(asks))("[H6] hides a stream that has ended: %s", async (_method, ask) => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      publishNumbers(channel, 1, 2);
      const { epoch } = positionOf(channel);
      ask(channel);
      expect(positionOf(channel, 10_000).epoch).not.toBe(epoch);
      expect(positionOf(channel, 10_000).offset).toBeLessThan(2);
    });
  });

  it("[H6] keeps an ended stream while it has a subscriber, and deletes it when the last one leaves", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      const reader = new RecordingSubscriber("reader");
      channel.subscribe(reader, positioned, 0);
      publishNumbers(channel, 1, 2);
      const position = positionOf(channel);
      expect(channel.cleanupDueAtMs(0)).toBe(10_000);
      channel.deleteExpired(10_000);
      expect(positionOf(channel, 10_000)).toEqual(position);
      expect(channel.cleanupDueAtMs(10_000)).toBeUndefined();
      channel.unsubscribe(reader);
      expect(channel.cleanupDueAtMs(20_000)).toBe(10_000);
      channel.deleteExpired(20_000);
      expect(channel.storesNothing).toBe(true);
      expect(tableNames(sql)).toEqual([]);
    });
  });

  it("[H6] forgets an empty stream too, that a mere look at it made", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, {
        options: { ...withHistory, historyMetaTtlMs: 3_600_000 },
      });
      positionOf(channel, 7);
      expect(channel.cleanupDueAtMs(7)).toBe(3_600_007);
      channel.deleteExpired(3_600_007);
      expect(tableNames(sql)).toEqual([]);
    });
  });

  it("[H12] keeps a stream without publications for three hours after its last subscriber has left", async () => {
    await onFreshStorage((sql) => {
      const { unusedStreamMs: keptMs, unusedNoteMs } = limits;
      const quiet = { options: { ...withHistory, historyMetaTtlMs: 100 * keptMs } };
      const first = openChannel(sql, quiet);
      const reader = new RecordingSubscriber("reader");
      first.subscribe(reader, positioned, 0);
      const position = positionOf(first);
      expect(dueAfterEvent(first, 0)).toBe(keptMs);
      first.unsubscribe(reader);
      // It was made a moment ago, so that nothing has to be noted.
      expect(dueAfterEvent(first, unusedNoteMs - 1)).toBe(keptMs);
      first.subscribe(reader, positioned, unusedNoteMs);
      expect(dueAfterEvent(first, 2 * keptMs)).toBeUndefined();
      first.unsubscribe(reader);
      expect(dueAfterEvent(first, 2 * keptMs)).toBe(3 * keptMs);
      const reopened = openChannel(sql, quiet);
      expect(positionOf(reopened, 3 * keptMs - 1)).toEqual(position);
      reopened.deleteExpired(3 * keptMs);
      expect(tableNames(sql)).toEqual([]);
    });
  });

  it("[H6] keeps a stream with a publication for the whole meta TTL, whoever has left it", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, {
        options: { ...withHistory, historyMetaTtlMs: 19_000_000 },
      });
      const reader = new RecordingSubscriber("reader");
      channel.subscribe(reader, positioned, 0);
      publishNumbers(channel, 1, 1);
      channel.unsubscribe(reader);
      expect(channel.cleanupDueAtMs(5_000_000)).toBe(19_000_000);
    });
  });
}
