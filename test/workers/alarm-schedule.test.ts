import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AlarmSchedule, NextTimer } from "../../workers/platform/alarm-schedule.ts";
import { newChannel } from "./new-channel.ts";

/** Far enough away that no alarm of a test ever rings. */
const nextYearMs = Date.UTC(new Date().getUTCFullYear() + 1, 0, 2);

interface Watched {
  /** The storage's alarms, with each write noted. */
  readonly storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  readonly writes: readonly number[];
  readonly reads: () => number;
  /** The platform's alarm. */
  readonly alarm: () => Promise<number | null>;
}

/** Runs a test in an object of its own, on real storage. */
function onStorage(test: (watched: Watched) => Promise<void>): Promise<void> {
  const stub = env.CHANNELS.getByName(newChannel("plain"));
  return runInDurableObject(stub, async (_, { storage }) => {
    const writes: number[] = [];
    let reads = 0;
    await test({
      storage: {
        getAlarm: () => {
          reads++;
          return storage.getAlarm();
        },
        setAlarm: (time) => {
          writes.push(Number(time));
          return storage.setAlarm(time);
        },
      },
      writes,
      reads: () => reads,
      alarm: () => storage.getAlarm(),
    });
  });
}

describe("the schedule of an object's one alarm", () => {
  it("[H14] [K1] is written only when it gets earlier", () =>
    onStorage(async ({ storage, writes, reads, alarm }) => {
      const alarms = new AlarmSchedule(storage);
      await alarms.atMost(nextYearMs);
      await alarms.atMost(nextYearMs);
      await alarms.atMost(nextYearMs + 1);
      expect(writes).toStrictEqual([nextYearMs]);
      await alarms.atMost(nextYearMs - 1);
      expect(writes).toStrictEqual([nextYearMs, nextYearMs - 1]);
      expect(await alarm()).toBe(nextYearMs - 1);
      expect(reads()).toBe(1);
    }));

  it("[S2] is taken over by a fresh instance, which writes nothing that is set already", () =>
    onStorage(async ({ storage, writes, alarm }) => {
      await new AlarmSchedule(storage).atMost(nextYearMs);
      await new AlarmSchedule(storage).atMost(nextYearMs + 1);
      expect(writes).toStrictEqual([nextYearMs]);
      await new AlarmSchedule(storage).atMost(nextYearMs - 1);
      expect(await alarm()).toBe(nextYearMs - 1);
    }));

  it("[K5] asked for nothing neither reads nor writes", () =>
    onStorage(async ({ storage, writes, reads, alarm }) => {
      const alarms = new AlarmSchedule(storage);
      expect(alarms.covers(Number.POSITIVE_INFINITY)).toBe(true);
      await alarms.atMost(Number.POSITIVE_INFINITY);
      expect(writes).toStrictEqual([]);
      expect(reads()).toBe(0);
      expect(await alarm()).toBeNull();
    }));

  it("[K1] knows that a fresh instance knows nothing, and that none is set once it rang", () =>
    onStorage(async ({ storage, writes }) => {
      const alarms = new AlarmSchedule(storage);
      expect(alarms.covers(nextYearMs)).toBe(false);
      await alarms.atMost(nextYearMs);
      expect(alarms.covers(nextYearMs)).toBe(true);
      expect(alarms.covers(nextYearMs - 1)).toBe(false);
      alarms.rang();
      expect(alarms.covers(nextYearMs)).toBe(false);
      await alarms.atMost(nextYearMs + 5);
      expect(writes).toStrictEqual([nextYearMs, nextYearMs + 5]);
    }));

  it.each([
    ["the earlier one first", [nextYearMs, nextYearMs + 7]],
    ["the later one first", [nextYearMs + 7, nextYearMs]],
  ])("[S2] keeps the earliest of two that are asked for at once: %s", (_, wanted) =>
    onStorage(async ({ storage, alarm }) => {
      const alarms = new AlarmSchedule(storage);
      await Promise.all(wanted.map((dueMs) => alarms.atMost(dueMs)));
      expect(await alarm()).toBe(nextYearMs);
      expect(alarms.covers(nextYearMs)).toBe(true);
    }),
  );

  it("[B1] takes a time beyond the platform's limit, and wakes the object early instead", () =>
    onStorage(async ({ storage, writes, alarm }) => {
      const alarms = new AlarmSchedule(storage);
      await alarms.atMost(Date.UTC(56_000, 0, 1));
      expect(writes).toStrictEqual([Date.UTC(2100, 0, 1)]);
      expect(await alarm()).toBe(Date.UTC(2100, 0, 1));
      await alarms.atMost(Number.MAX_VALUE);
      expect(writes).toHaveLength(1);
    }));

  it("[K1] doesn't take an alarm for set that the platform refused", () =>
    onStorage(async ({ storage, writes }) => {
      let refuse = true;
      const alarms = new AlarmSchedule({
        getAlarm: () => storage.getAlarm(),
        setAlarm: (time) =>
          refuse ? Promise.reject(new Error("planned")) : storage.setAlarm(time),
      });
      await expect(alarms.atMost(nextYearMs)).rejects.toThrow("planned");
      expect(alarms.covers(nextYearMs)).toBe(false);
      refuse = false;
      await alarms.atMost(nextYearMs);
      expect(alarms.covers(nextYearMs)).toBe(true);
      expect(writes).toStrictEqual([nextYearMs]);
    }));
});

describe("a timer for what is next", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("[S3] isn't put off by later events, although it is overdue", () => {
    let fired = 0;
    const timer = new NextTimer(() => fired++);
    timer.set(100, 1_000);
    for (let nowMs = 1_000; nowMs < 1_200; nowMs += 10) {
      vi.advanceTimersByTime(5);
      timer.set(Math.max(0, 1_100 - nowMs), nowMs);
    }
    expect(fired).toBe(1);
  });

  it("[S3] is set for an earlier time, not for a later one, and is cleared for none", () => {
    let fired = 0;
    const timer = new NextTimer(() => fired++);
    timer.set(100, 1_000);
    timer.set(200, 1_000);
    timer.set(50, 1_000);
    vi.advanceTimersByTime(50);
    expect(fired).toBe(1);
    timer.set(10, 1_050);
    timer.set(undefined, 1_050);
    vi.advanceTimersByTime(1_000);
    expect([fired, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it("[S3] is set anew when the clock was set back", () => {
    let fired = 0;
    const timer = new NextTimer(() => fired++);
    timer.set(5_000, 1_000_000);
    timer.set(100, 500);
    vi.advanceTimersByTime(100);
    expect(fired).toBe(1);
  });
});
