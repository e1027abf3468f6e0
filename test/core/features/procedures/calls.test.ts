import { describe, expect, test } from "vitest";
import { testChannel, TestRejection } from "../../../../package/test/test-channel.ts";
import { channel, type ProcedureContext } from "../../../../src/features/procedures/definition.ts";
import { procedureLimits } from "../../../../src/features/procedures/limits.ts";

interface Bid {
  readonly amount: number;
  readonly by: string;
}

const auction = channel({
  procedures: {
    bid(ctx, { amount }: { amount: number }) {
      const best = ctx.get<Bid>("best");
      if (best !== undefined && amount <= best.amount)
        ctx.reject(1001, `the best bid is ${best.amount}`);
      ctx.set("best", { amount, by: ctx.user });
      ctx.publish({ bid: amount, by: ctx.user });
      ctx.at("end", ctx.nowMs + 30_000, "close");
      return { isBest: true };
    },
    close(ctx) {
      ctx.publish({ sold: ctx.get<Bid>("best") });
      ctx.set("isOver", true);
    },
  },
});

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The code and the message of the rejection of a call. */
function rejectionOf(work: () => void): readonly [number, string] {
  const error = thrownBy(work);
  if (!(error instanceof TestRejection)) throw new Error(`no rejection: ${String(error)}`);
  return [error.code, error.message];
}

/** Changes something of each kind. */
function changing(ctx: ProcedureContext): void {
  ctx.set("key", 1);
  ctx.publish("published");
  ctx.at("timer", ctx.nowMs, "throws");
}

async function later(): Promise<number> {
  return Promise.resolve(1);
}

/** A channel whose code says what it sees. */
const looking = () =>
  testChannel(
    channel({
      procedures: {
        look: (ctx) => ({
          user: ctx.user,
          client: ctx.client,
          info: ctx.info,
          isBackend: ctx.isBackend,
          isTimer: ctx.isTimer,
          nowMs: ctx.nowMs,
          offset: ctx.offset,
          channel: ctx.channel,
          random: [ctx.random(), ctx.random()],
        }),
        later: (ctx) => ctx.at("t", ctx.nowMs + 5, "publish"),
        publish: (ctx) => ctx.publish([ctx.isTimer, ctx.isBackend, ctx.nowMs]),
      },
    }),
  );

describe("a call", () => {
  test("[PC1] reads, writes, publishes and sets a timer in one step", () => {
    const room = testChannel(auction);
    expect(room.call("bid", { amount: 5 }, { user: "ann" })).toEqual({ isBest: true });
    expect(room.keys).toEqual({ best: { amount: 5, by: "ann" } });
    expect(room.published).toEqual([{ data: { bid: 5, by: "ann" }, offset: 1 }]);
    expect(room.timers).toEqual({ end: { atMs: room.nowMs + 30_000, procedure: "close" } });
    room.restart();
    expect(room.keys).toEqual({ best: { amount: 5, by: "ann" } });
    room.advance(30_000);
    expect(room.published.at(-1)?.data).toEqual({ sold: { amount: 5, by: "ann" } });
    expect(room.timers).toEqual({});
  });

  test("[PC2] that rejects has changed nothing, and the caller gets the code and the message", () => {
    const room = testChannel(auction);
    room.call("bid", { amount: 5 }, { user: "ann" });
    const end = room.timers["end"]?.atMs;
    room.advance(1_000);
    expect(rejectionOf(() => room.call("bid", { amount: 5 }, { user: "bob" }))).toEqual([
      1001,
      "the best bid is 5",
    ]);
    expect(room.keys).toEqual({ best: { amount: 5, by: "ann" } });
    expect(room.published.length).toBe(1);
    expect(room.timers["end"]?.atMs).toBe(end);
  });

  test("[PC2] that throws, or catches what it can't, has changed nothing", () => {
    const room = testChannel(
      channel({
        procedures: {
          throws(ctx) {
            changing(ctx);
            throw new RangeError("oh");
          },
          catches(ctx) {
            changing(ctx);
            try {
              ctx.reject(2_000, "no");
            } catch {
              return "caught";
            }
            return "reached";
          },
          inner(ctx) {
            changing(ctx);
            try {
              ctx.call("throws");
            } catch {
              return "caught";
            }
            return "reached";
          },
          keeps: () => 1,
        },
      }),
    );
    expect(thrownBy(() => room.call("throws"))).toEqual(new RangeError("oh"));
    expect(rejectionOf(() => room.call("catches"))).toEqual([2_000, "no"]);
    expect(thrownBy(() => room.call("inner"))).toEqual(new RangeError("oh"));
    expect([room.keys, room.published, room.timers]).toEqual([{}, [], {}]);
    expect(room.call("keeps")).toBe(1);
  });

  test("[PC4] with a known key has the first result, and happens once", () => {
    const room = testChannel(
      channel({
        procedures: {
          add(ctx, amount: number) {
            const sum = (ctx.get<number>("sum") ?? 0) + amount;
            if (amount < 0) ctx.reject(1_000, "negative");
            ctx.set("sum", sum);
            ctx.publish(sum);
            return sum;
          },
        },
      }),
    );
    const key = { idempotencyKey: "one" };
    expect(rejectionOf(() => room.call("add", -1, key))).toEqual([1_000, "negative"]);
    expect(room.call("add", 3, key)).toBe(3);
    expect(room.call("add", 4, key)).toBe(3);
    room.restart();
    expect(room.call("add", 4, key)).toBe(3);
    // Others have keys of their own.
    expect(room.call("add", 1, { ...key, user: "ann" })).toBe(4);
    expect(room.call("add", 1, { ...key, user: "ann" })).toBe(4);
    expect(room.call("add", 1, { ...key, user: "bob" })).toBe(5);
    expect(room.call("add", 1, { ...key, user: "", client: "a" })).toBe(6);
    expect(room.call("add", 1, { ...key, user: "", client: "b" })).toBe(7);
    expect(room.published.map(({ data }) => data)).toEqual([3, 4, 5, 6, 7]);
    room.advance(300_000);
    expect(room.call("add", 1, key)).toBe(8);
  });

  test("[PC2] of a procedure that doesn't exist is answered 104", () => {
    const room = testChannel(auction);
    // @ts-expect-error There is no such procedure.
    expect(rejectionOf(() => room.call("bit"))).toEqual([104, "method not found"]);
    // @ts-expect-error Nor this one, which all objects have.
    expect(rejectionOf(() => room.call("toString"))).toEqual([104, "method not found"]);
  });

  test("[PC3] of a procedure that isn't for clients is answered 103 to a client, and carried out for a backend", () => {
    const room = testChannel(channel({ ...auction, clients: ["bid"] }));
    expect(rejectionOf(() => room.call("close", {}, { user: "ann" }))).toEqual([
      103,
      "permission denied",
    ]);
    room.call("close");
    expect(room.keys).toEqual({ isOver: true });
  });

  test("[PC10] sees who calls, and the time and random numbers that can be repeated", () => {
    const one = looking();
    const caller = { user: "ann", client: "c1", info: { name: "Ann" } };
    const seen = one.call("look", undefined, caller);
    expect(seen).toMatchObject({ ...caller, isBackend: false, isTimer: false, offset: 0 });
    expect(seen.nowMs).toBe(one.nowMs);
    expect(looking().call("look", undefined, caller)).toEqual(seen);
    expect(seen.random[0]).not.toBe(seen.random[1]);
    expect(one.call("look", undefined, caller).random).not.toEqual(seen.random);
    one.call("later");
    one.advance(5);
    expect(one.published[0]?.data).toEqual([true, false, one.nowMs]);
    expect(one.call("look")).toMatchObject({ user: "", client: "", isBackend: true, offset: 1 });
  });

  test("[PC10] that returns a promise has failed, with a sentence that says what to do instead", () => {
    const room = testChannel(
      channel({
        procedures: {
          promises(ctx) {
            ctx.set("key", 1);
            return later();
          },
        },
      }),
    );
    expect(String(thrownBy(() => room.call("promises")))).toMatch(
      /promises has returned a promise: .* before, in a hook .* afterwards, on an event/,
    );
    expect(room.keys).toEqual({});
    expect(() => testChannel(channel({ procedures: { async: later } }))).toThrow(
      /channels\.test\.procedures\.async is async/,
    );
  });

  test("[PC10] that uses another clock or other random numbers is found by the test kit", () => {
    const room = testChannel(
      channel({ procedures: { now: () => Date.now(), random: () => Math.random() } }),
    );
    expect(() => room.call("now")).toThrow("use ctx.nowMs");
    expect(() => room.call("random")).toThrow("use ctx.random()");
    expect(Math.abs(Date.now() * Math.random())).toBeGreaterThan(0);
  });

  test("[PC1] can't change anything once it is over", () => {
    let kept: ProcedureContext | undefined;
    const room = testChannel(
      channel({
        procedures: {
          keep(ctx) {
            kept = ctx;
          },
        },
      }),
    );
    room.call("keep");
    expect(() => kept?.set("key", 1)).toThrow("the call is over");
    expect(() => kept?.get("key")).toThrow("the call is over");
    expect(room.keys).toEqual({});
  });

  test("[PC9] [PC2] that passes a bound has changed nothing, and the caller is told the bound", () => {
    const limits = procedureLimits;
    const room = testChannel(
      channel({
        procedures: {
          keys(ctx, count: number) {
            for (let index = 0; index < count; index++) ctx.set(`k${index}`, index);
          },
          publications(ctx, count: number) {
            for (let index = 0; index < count; index++) ctx.publish(index);
          },
          value: (ctx, length: number) => ctx.set("key", "v".repeat(length)),
          key: (ctx, length: number) => ctx.set("k".repeat(length), 1),
          bytes(ctx, count: number) {
            for (let index = 0; index < count; index++) ctx.publish("v".repeat(50_000));
          },
          result: (_, length: number) => "r".repeat(length),
          timers(ctx, count: number) {
            for (let index = 0; index < count; index++)
              ctx.at(`t${index}`, ctx.nowMs + 1, "result");
          },
          far: (ctx, ms: number) => ctx.at("far", ctx.nowMs + ms, "result"),
          depth(ctx, depth: number) {
            ctx.set(`d${depth}`, 1);
            if (depth > 0) ctx.call("depth", depth - 1);
          },
        },
      }),
    );
    const passed = (name: Parameters<typeof room.call>[0], size: number): string => {
      const [code, message] = rejectionOf(() => room.call(name, size));
      expect(code).toBe(name === "key" ? 107 : 106);
      return message;
    };
    expect(passed("keys", limits.callKeysMax + 1)).toContain(`at most ${limits.callKeysMax} keys`);
    expect(passed("publications", limits.callPublicationsMax + 1)).toContain("publications");
    expect(passed("value", limits.valueBytesMax)).toContain(`${limits.valueBytesMax} bytes`);
    expect(passed("key", 100_000)).toContain("a key is");
    expect(passed("bytes", 22)).toContain(`at most ${limits.callBytesMax} bytes`);
    expect(passed("result", limits.resultBytesMax)).toContain("a result has");
    expect(passed("timers", limits.timersMax + 1)).toContain(`at most ${limits.timersMax} timers`);
    expect(passed("far", limits.timerAheadMsMax + 1)).toContain("ms from now");
    expect(passed("depth", limits.depthMax + 1)).toContain("deep at most");
    expect([room.keys, room.published, room.timers]).toEqual([{}, [], {}]);
    room.call("depth", limits.depthMax);
    expect(Object.keys(room.keys).length).toBe(limits.depthMax + 1);
    room.call("publications", limits.callPublicationsMax);
    room.call("timers", limits.timersMax);
    expect([room.published.length, Object.keys(room.timers).length]).toEqual([
      limits.callPublicationsMax,
      limits.timersMax,
    ]);
    expect(rejectionOf(() => room.call("far", 1))[1]).toContain("timers");
  });

  test("[PC9] beyond the keys of a channel is refused, and one that removes some is not", () => {
    const { keysMax, callKeysMax } = procedureLimits;
    const room = testChannel(
      channel({
        procedures: {
          fill(ctx, from: number) {
            for (let index = 0; index < callKeysMax; index++) ctx.set(`k${from + index}`, 1);
          },
          set: (ctx, key: string) => ctx.set(key, 2),
          remove: (ctx, key: string) => ctx.remove(key),
        },
      }),
    );
    for (let from = 0; from < keysMax; from += callKeysMax) room.call("fill", from);
    expect(rejectionOf(() => room.call("set", "more"))).toEqual([
      106,
      `limit exceeded: a channel has at most ${keysMax} keys`,
    ]);
    room.call("set", "k1");
    room.call("remove", "k2");
    room.restart();
    room.call("set", "more");
    expect(rejectionOf(() => room.call("set", "yet more"))[0]).toBe(106);
  });
});

describe("the keys", () => {
  test("[PC11] are read as the call has changed them, in the order of their bytes", () => {
    const room = testChannel(
      channel({
        procedures: {
          set(ctx, keys: readonly string[]) {
            for (const key of keys) ctx.set(key, key);
          },
          change(ctx) {
            ctx.set("b", 1);
            ctx.set("\u{1f600}", 1);
            ctx.set("\uffff", 1);
            ctx.remove("c");
            ctx.remove("none");
            ctx.remove("b2");
            ctx.set("b2", { again: true });
            const again = ctx.get<{ again: boolean }>("b2");
            if (again !== undefined) again.again = false;
            return { all: [...ctx.keys()], after: [...ctx.keys("b")], b2: ctx.get("b2") ?? null };
          },
          first(ctx) {
            for (const key of ctx.keys()) return key;
            return "none";
          },
        },
      }),
    );
    const many = Array.from({ length: 250 }, (_, index) => `a${index + 100}`);
    room.call("set", [...many, "c", "d", "b2"]);
    const { all, after, b2 } = room.call("change");
    expect(all).toEqual([...many, "b", "b2", "d", "\uffff", "\u{1f600}"]);
    expect(after).toEqual(["b2", "d", "\uffff", "\u{1f600}"]);
    expect(b2).toEqual({ again: true });
    expect(Object.keys(room.keys)).toEqual(all);
    expect(room.call("first")).toBe("a100");
  });
});
