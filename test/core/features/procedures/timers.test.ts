import { describe, expect, test } from "vitest";
import { testChannel } from "../../../../package/test/test-channel.ts";
import { channel } from "../../../../src/features/procedures/definition.ts";
import { procedureLimits } from "../../../../src/features/procedures/limits.ts";

const clock = channel({
  procedures: {
    start: (ctx, ms: number) => ctx.at("t", ctx.nowMs + ms, "ring", { set: ctx.nowMs }),
    stop: (ctx) => ctx.cancel("t"),
    ring(ctx, { set }: { set: number }) {
      ctx.publish({ rang: ctx.nowMs - set, timer: ctx.timer("t") ?? null });
    },
    look: (ctx) => ({ at: ctx.timer("t") ?? null, rings: ctx.offset }),
    every(ctx) {
      ctx.publish("every");
      ctx.at("every", ctx.nowMs + 1_000, "every");
    },
    two(ctx) {
      ctx.at("late", ctx.nowMs + 2, "named", "late");
      ctx.at("early", ctx.nowMs + 1, "named", "early");
      ctx.at("same b", ctx.nowMs + 3, "named", "b");
      ctx.at("same a", ctx.nowMs + 3, "cancels", "same b");
    },
    named: (ctx, name: string) => ctx.publish(name),
    cancels: (ctx, name: string) => ctx.cancel(name),
    rejects: (ctx) => ctx.reject(1_000, "no"),
    throws() {
      throw new Error("broken");
    },
    plan: (ctx, name: string) => ctx.at("plan", ctx.nowMs + 1, name),
  },
});

describe("timers", () => {
  test("[PC7] call once, at their time, also after a restart, and are gone in the same step", () => {
    const room = testChannel(clock);
    room.call("start", 1_000);
    room.advance(999);
    expect(room.published).toEqual([]);
    room.restart();
    room.advance(1);
    expect(room.published).toEqual([{ data: { rang: 1_000, timer: null }, offset: 1 }]);
    room.restart();
    room.advance(100_000);
    expect(room.published.length).toBe(1);
  });

  test("[PC7] are replaced and cancelled by their names", () => {
    const room = testChannel(clock);
    room.call("start", 1_000);
    room.call("start", 5_000);
    room.advance(4_999);
    expect(room.published).toEqual([]);
    expect(room.call("look")).toEqual({ at: room.nowMs + 1, rings: 0 });
    room.call("stop");
    room.call("stop");
    room.advance(10_000);
    expect([room.published, room.timers]).toEqual([[], {}]);
  });

  test("[PC7] call in the order of their times, and one can cancel another", () => {
    const room = testChannel(clock);
    room.call("two");
    room.advance(10);
    expect(room.published.map(({ data }) => data)).toEqual(["early", "late"]);
    room.call("every");
    room.advance(3_500);
    expect(room.published.length).toBe(2 + 4);
  });

  test("[PC7] that are due call before a later call and a later publication, whose alarm is late", () => {
    const room = testChannel(channel({ ...clock, onPublish: () => undefined }));
    room.call("start", 1_000);
    room.nowMs += 1_500;
    expect(room.call("look")).toEqual({ at: null, rings: 1 });
    room.call("start", 1_000);
    room.nowMs += 1_000;
    room.publish("late");
    expect(room.published.map(({ data }) => data)).toEqual([
      { rang: 1_500, timer: null },
      { rang: 1_000, timer: null },
      "late",
    ]);
  });

  test("[PC7] call at once if the clock was set back by more than their time, and otherwise later", () => {
    const room = testChannel(clock);
    room.call("start", 10_000);
    room.nowMs -= 5_000;
    room.restart();
    room.advance(14_999);
    expect(room.published).toEqual([]);
    room.advance(1);
    expect(room.published.length).toBe(1);
    room.call("start", 10_000);
    room.nowMs -= 3_600_000;
    room.restart();
    room.advance(0);
    expect(room.published.length).toBe(2);
    // The clock is put forward: it calls as soon as possible, and once.
    room.call("start", 10_000);
    room.nowMs += 86_400_000;
    room.advance(0);
    room.advance(86_400_000);
    expect(room.published.length).toBe(3);
  });

  test("[PC14] whose procedure rejects are over, and one that throws is tried again for some time", () => {
    const room = testChannel(clock);
    room.call("plan", "rejects");
    room.advance(1_000_000);
    expect(room.timers).toEqual({});
    room.call("plan", "throws");
    expect(() => room.advance(1)).toThrow("broken");
    expect(room.timers["plan"]?.atMs).toBe(room.nowMs + procedureLimits.timerPauseMsMin);
    let pauses = 0;
    for (; room.timers["plan"] !== undefined; pauses++) {
      const pauseMs = room.timers["plan"].atMs - room.nowMs;
      expect(pauseMs).toBeLessThanOrEqual(procedureLimits.timerPauseMsMax);
      room.restart();
      expect(() => room.advance(pauseMs)).toThrow("broken");
    }
    expect(pauses).toBe(procedureLimits.timerTriesMax - 1);
  });
});

describe("migrations", () => {
  const first = channel({ procedures: { set: (ctx) => ctx.set("n", { value: 1 }) } });
  const second = channel({
    version: 3,
    migrate(ctx, from) {
      if (ctx.get("broken") === true) throw new Error(`can't go from ${from}`);
      for (const key of ctx.keys()) ctx.set(key, { value: ctx.get(key), from });
    },
    procedures: {
      set: (ctx) => ctx.set("new", 1),
      repair: (ctx) => ctx.remove("broken"),
    },
  });

  test("[PC8] bring old keys to the version of the code, once, before the first call", () => {
    const room = testChannel(first);
    room.call("set");
    room.restart(second);
    room.call("set");
    const keys = { n: { value: { value: 1 }, from: 1 }, new: 1 };
    expect(room.keys).toEqual(keys);
    room.restart();
    room.call("set");
    expect(room.keys).toEqual(keys);
  });

  test("[PC8] aren't made for a channel that had nothing", () => {
    const room = testChannel(second);
    room.call("set");
    room.restart();
    room.call("set");
    expect(room.keys).toEqual({ new: 1 });
  });

  test("[PC8] that throw change nothing, and hold up all calls until they succeed", () => {
    const before = channel({
      procedures: {
        set(ctx) {
          ctx.set("broken", true);
          ctx.at("t", ctx.nowMs + 1, "tick");
        },
        tick: () => undefined,
      },
      onPublish: () => undefined,
    });
    const room = testChannel(before);
    room.call("set");
    room.restart(channel({ ...second, onPublish: () => undefined }));
    expect(() => room.call("set")).toThrow("can't go from 1");
    // The migration has a pause: the call is refused without it.
    expect(() => room.call("set")).toThrow("internal server error");
    expect(() => room.publish("x")).toThrow("internal server error");
    expect(() => room.advance(1_000)).toThrow("can't go from 1");
    expect(room.keys).toEqual({ broken: true });
    room.restart(before);
    room.advance(100_000);
    room.call("set");
    room.restart(channel({ ...second, version: 2, migrate: (ctx) => ctx.remove("broken") }));
    room.call("set");
    expect(room.keys).toEqual({ new: 1 });
    // The code of an older release can't know the newer form.
    room.restart(before);
    expect(() => room.call("set")).toThrow("of version 2, and the code is of version 1");
  });
});
