import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AlarmSchedule, NextTimer } from "../../../src/object/alarm-schedule.ts";
import { limits } from "../../../src/limits.ts";
import type { Platform } from "../../../src/object/platform.ts";
import { newChannel } from "../support/new-channel.ts";

/** Far enough away that no alarm of a test ever rings. */
const nextYearMs = Date.UTC(new Date().getUTCFullYear() + 1, 0, 2);

interface Watched {
  /** The storage's alarms, with each write noted. */
  readonly platform: Pick<Platform, "readAlarm" | "setAlarm" | "after">;
  readonly writes: readonly number[];
  readonly reads: () => number;
  /** Asks for an alarm, and waits until it is set. */
  readonly atMost: (alarms: AlarmSchedule, ...dueMs: readonly number[]) => Promise<void>;
  /** The platform's alarm. */
  readonly alarm: () => Promise<number | null>;
}

/** Runs a test in an object of its own, on real storage. */
function onStorage(test: (watched: Watched) => Promise<void>): Promise<void> {
  const stub = env.CHANNELS.getByName(newChannel("plain"));
  return runInDurableObject(stub, async (_, { storage }) => {
    const writes: number[] = [];
    const underWay: Promise<void>[] = [];
    let reads = 0;
    const read = async (done: (atMs: number) => void): Promise<void> => {
      reads++;
      done((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY);
    };
    await test({
      platform: {
        readAlarm: (done) => underWay.push(read(done)),
        setAlarm: (time) => {
          writes.push(time);
          underWay.push(storage.setAlarm(time));
        },
        after: timers.after,
      },
      writes,
      reads: () => reads,
      atMost: async (alarms, ...dueMs) => {
        for (const one of dueMs) alarms.atMost(one);
        for (let next = underWay.shift(); next !== undefined; next = underWay.shift()) await next;
      },
      alarm: () => storage.getAlarm(),
    });
  });
}

describe("the schedule of an object's one alarm", () => {
  it("[H14] [K1] is written only when it gets earlier", () =>
    onStorage(async ({ platform, atMost, writes, reads, alarm }) => {
      const alarms = new AlarmSchedule(platform);
      await atMost(alarms, nextYearMs);
      await atMost(alarms, nextYearMs);
      await atMost(alarms, nextYearMs + 1);
      expect(writes).toStrictEqual([nextYearMs]);
      await atMost(alarms, nextYearMs - 1);
      expect(writes).toStrictEqual([nextYearMs, nextYearMs - 1]);
      expect(await alarm()).toBe(nextYearMs - 1);
      expect(reads()).toBe(1);
    }));

  it("[S2] is taken over by a fresh instance, which writes nothing that is set already", () =>
    onStorage(async ({ platform, atMost, writes, alarm }) => {
      await atMost(new AlarmSchedule(platform), nextYearMs);
      await atMost(new AlarmSchedule(platform), nextYearMs + 1);
      expect(writes).toStrictEqual([nextYearMs]);
      await atMost(new AlarmSchedule(platform), nextYearMs - 1);
      expect(await alarm()).toBe(nextYearMs - 1);
    }));

  it("[K5] asked for nothing neither reads nor writes", () =>
    onStorage(async ({ platform, atMost, writes, reads, alarm }) => {
      const alarms = new AlarmSchedule(platform);
      expect(alarms.covers(Number.POSITIVE_INFINITY)).toBe(true);
      await atMost(alarms, Number.POSITIVE_INFINITY);
      expect(writes).toStrictEqual([]);
      expect(reads()).toBe(0);
      expect(await alarm()).toBeNull();
    }));

  it("[K1] knows that a fresh instance knows nothing, and that none is set once it rang", () =>
    onStorage(async ({ platform, atMost, writes }) => {
      const alarms = new AlarmSchedule(platform);
      expect(alarms.covers(nextYearMs)).toBe(false);
      await atMost(alarms, nextYearMs);
      expect(alarms.covers(nextYearMs)).toBe(true);
      expect(alarms.covers(nextYearMs - 1)).toBe(false);
      alarms.rang();
      expect(alarms.covers(nextYearMs)).toBe(false);
      await atMost(alarms, nextYearMs + 5);
      expect(writes).toStrictEqual([nextYearMs, nextYearMs + 5]);
    }));

  it.each([
    ["the earlier one first", [nextYearMs, nextYearMs + 7]],
    ["the later one first", [nextYearMs + 7, nextYearMs]],
  ])("[S2] keeps the earliest of two that are asked for at once: %s", (_, wanted) =>
    onStorage(async ({ platform, atMost, alarm }) => {
      const alarms = new AlarmSchedule(platform);
      await atMost(alarms, ...wanted);
      expect(await alarm()).toBe(nextYearMs);
      expect(alarms.covers(nextYearMs)).toBe(true);
    }),
  );

  it("[B1] takes a time beyond the platform's limit, and wakes the object early instead", () =>
    onStorage(async ({ platform, atMost, writes, alarm }) => {
      const alarms = new AlarmSchedule(platform);
      await atMost(alarms, Date.UTC(56_000, 0, 1));
      expect(writes).toStrictEqual([Date.UTC(2100, 0, 1)]);
      expect(await alarm()).toBe(Date.UTC(2100, 0, 1));
      await atMost(alarms, Number.MAX_VALUE);
      expect(writes).toHaveLength(1);
    }));

  it("[K1] [S6] doesn't take an alarm for set that the platform refused, and asks again", () =>
    onStorage(async ({ platform, atMost, writes, alarm }) => {
      let refused = 2;
      const again: (() => void)[] = [];
      const waits: number[] = [];
      const alarms = new AlarmSchedule({
        readAlarm: (done) => platform.readAlarm(done),
        setAlarm: (time, failed) => {
          if (refused-- > 0) failed();
          else platform.setAlarm(time, failed);
        },
        after: (waitMs, work) => {
          waits.push(waitMs);
          again.push(work);
          return { cancel: () => undefined };
        },
      });
      await atMost(alarms, nextYearMs);
      expect(alarms.covers(nextYearMs)).toBe(false);
      again.shift()?.();
      await atMost(alarms);
      expect(alarms.covers(nextYearMs)).toBe(false);
      again.shift()?.();
      await atMost(alarms);
      expect(alarms.covers(nextYearMs)).toBe(true);
      expect(writes).toStrictEqual([nextYearMs]);
      expect(await alarm()).toBe(nextYearMs);
      expect(waits).toStrictEqual([limits.alarmRetryMs, limits.alarmRetryMs]);
    }));

  it("[S6] doesn't take a time that was read before the alarm rang", () => {
    const reads: ((atMs: number) => void)[] = [];
    const writes: number[] = [];
    const failures: (() => void)[] = [];
    const alarms = new AlarmSchedule({
      readAlarm: (done) => reads.push(done),
      setAlarm: (time, failed) => {
        writes.push(time);
        failures.push(failed);
      },
      after: () => ({ cancel: () => undefined }),
    });
    alarms.atMost(nextYearMs);
    alarms.rang();
    alarms.atMost(nextYearMs + 5);
    failures.shift()?.();
    reads.shift()?.(nextYearMs - 5);
    expect(alarms.covers(nextYearMs)).toBe(false);
    reads.shift()?.(Number.POSITIVE_INFINITY);
    expect(writes).toStrictEqual([nextYearMs + 5, nextYearMs]);
  });
});

const timers: Pick<Platform, "after" | "nowMs"> = {
  nowMs: () => 0,
  after: (waitMs, work) => {
    const timer = setTimeout(work, waitMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

describe("a timer for what is next", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("[S3] isn't put off by later events, although it is overdue", () => {
    let fired = 0;
    const timer = new NextTimer(timers, () => fired++);
    timer.set(100, 1_000);
    for (let nowMs = 1_000; nowMs < 1_200; nowMs += 10) {
      vi.advanceTimersByTime(5);
      timer.set(Math.max(0, 1_100 - nowMs), nowMs);
    }
    expect(fired).toBe(1);
  });

  it("[S3] is set for an earlier time, not for a later one, and is cleared for none", () => {
    let fired = 0;
    const timer = new NextTimer(timers, () => fired++);
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

  it("[S5] gives its work the time for which it was set, also where the clock stands", () => {
    const given: number[] = [];
    let clockMs = 1_000;
    const timer = new NextTimer({ ...timers, nowMs: () => clockMs }, (nowMs) => given.push(nowMs));
    timer.set(100, 1_000);
    vi.advanceTimersByTime(100);
    timer.set(100, 1_000);
    clockMs = 1_250;
    vi.advanceTimersByTime(100);
    expect(given).toEqual([1_100, 1_250]);
  });

  it("[S3] is set anew when the clock was set back", () => {
    let fired = 0;
    const timer = new NextTimer(timers, () => fired++);
    timer.set(5_000, 1_000_000);
    timer.set(100, 500);
    vi.advanceTimersByTime(100);
    expect(fired).toBe(1);
  });
});
