import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pools } from "../../../src/gateway/pool.ts";
import { limits } from "../../../src/limits.ts";
import { ModelPool } from "./support/model-pool.ts";

const pool = "eu";
const connectionsMax = 20;

describe("a pool as one isolate fills it", () => {
  it("[G3] begins the next object when the ones before it are full", () => {
    const model = new ModelPool(pool, connectionsMax);
    const pools = new Pools();
    for (let count = 1; count <= 10 * connectionsMax; count++) {
      expect(model.connect(pools, count * 100).index).toBe(Math.ceil(count / connectionsMax) - 1);
    }
  });

  it("[G3] skips objects that are known to be full, for a time", () => {
    const pools = new Pools();
    pools.full(pool, 0, 5_000);
    pools.full(pool, 1, 7_000);
    expect(pools.candidates(pool, 4_999)[0]).toBe(2);
    expect(pools.candidates(pool, 5_000)[0]).toBe(0);
    expect(pools.candidates(pool, 5_000)).not.toContain(1);
    expect(pools.candidates(pool, 7_000)).toContain(1);
    // It was left out in this pool and in no other.
    expect(pools.candidates("na", 4_999)[0]).toBe(0);
  });

  it("[G3] takes an object that accepted a connection as not full", () => {
    const pools = new Pools();
    pools.full(pool, 0, 5_000);
    pools.took(pool, 0);
    expect(pools.candidates(pool, 0)[0]).toBe(0);
  });

  it("[G3] asks objects that aren't full before others of the same stretch", () => {
    for (let nowMs = 0; nowMs < 100; nowMs++) {
      const pools = new Pools();
      for (const index of [9, 20, 22]) pools.took(pool, index);
      const asked = pools.candidates(pool, nowMs);
      expect(asked.filter((index) => index > 16 && index < 25)).toStrictEqual([20]);
    }
  });

  it("[G3] drains from above when clients come and go", () => {
    const model = new ModelPool(pool, connectionsMax);
    const pools = new Pools();
    model.fill(10);
    let nowMs = 0;
    // Half of them leave, from everywhere; the others are replaced one by one, each object's in its turn.
    for (let index = 0; index < 10; index++) model.leave(index, connectionsMax / 2);
    for (let round = 0; round < 3 * connectionsMax; round++) {
      for (let index = 0; index < model.length; index++) {
        if (model.connectionsOf(index) === 0) continue;
        model.leave(index);
        model.connect(pools, (nowMs += 977));
      }
    }
    expect(model.connections).toBe(5 * connectionsMax);
    expect(model.length).toBeLessThanOrEqual(6);
  });

  it("[B4] gives up when every object is full, asking no more of them at once than it may", () => {
    const model = new ModelPool(pool, connectionsMax);
    const pools = new Pools(40);
    model.fill(40);
    let askedInAll = 0;
    for (let count = 0; count < 40; count++) {
      const { index, asked } = model.connect(pools, count);
      expect(index).toBeUndefined();
      askedInAll += asked;
    }
    // Each of them once: then all are known to be full.
    expect(askedInAll).toBe(40);
    expect(pools.candidates(pool, 40)).toStrictEqual([]);
  });
});

describe("an isolate without memory", () => {
  it.each([1, 3, 4, 17, 200, 400])("[G3] finds an object in a pool of %i full ones", (length) => {
    for (let nowMs = 0; nowMs < 1_000; nowMs += 7) {
      const model = new ModelPool(pool, connectionsMax);
      model.fill(length);
      const { index } = model.connect(new Pools(), nowMs);
      expect(index).toBeGreaterThanOrEqual(length);
      expect(index).toBeLessThan(Math.max(4, 4 * length));
    }
  });

  it("[G3] finds an object in a pool of 900 full ones within a few requests", () => {
    for (let nowMs = 0; nowMs < 1_000; nowMs += 7) {
      const model = new ModelPool(pool, connectionsMax);
      const pools = new Pools();
      model.fill(900);
      const isTaken = (step: number) =>
        model.connect(pools, nowMs + step * 999).index !== undefined;
      expect(Array.from({ length: 20 }, (_, step) => isTaken(step))).toContain(true);
    }
  });

  it("[G3] leaves no object unused where no isolate remembers anything", () => {
    const model = new ModelPool(pool, connectionsMax);
    // Full, they are 100 objects; the same dozen would hold 240 clients.
    for (let count = 0; count < 100 * connectionsMax; count++) {
      expect(model.connect(new Pools(), count * 7_919).index).toBeDefined();
    }
    expect(model.length).toBeLessThanOrEqual(256);
  });
});

describe("the objects that are asked", () => {
  const outcomes = fc.array(
    fc.record({
      index: fc.oneof(fc.nat(20), fc.nat(limits.poolObjectsMax)),
      untilMs: fc.option(fc.nat(20_000), { nil: undefined }),
    }),
    { maxLength: 300 },
  );
  // Far longer than pools get, so that the number of calls is bounded by its limit and not by the pool.
  const length = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constant(1_000_000));

  it("[B1] are a bounded number, ascending, in the pool, and none that is known to be full", () => {
    fc.assert(
      fc.property(outcomes, fc.nat(20_000), length, (facts, nowMs, objectsMax) => {
        const pools = new Pools(objectsMax);
        const fullUntilMs = new Map<number, number>();
        for (const { index, untilMs } of facts.filter((fact) => fact.index < objectsMax)) {
          if (untilMs === undefined) pools.took(pool, index);
          else pools.full(pool, index, untilMs);
          fullUntilMs.set(index, untilMs ?? 0);
        }
        // One that is full for longer than objects ever are was full before the clock was set back (rule S5).
        const isFull = (index: number) => {
          const leftMs = (fullUntilMs.get(index) ?? 0) - nowMs;
          return leftMs > 0 && leftMs <= 2 * limits.poolFullMs;
        };
        const candidates = pools.candidates(pool, nowMs);
        expect(candidates.length).toBeLessThanOrEqual(limits.poolAttemptsMax);
        expect(candidates).toStrictEqual([...new Set(candidates)].sort((a, b) => a - b));
        expect(candidates.filter((index) => isFull(index) || index >= objectsMax)).toStrictEqual(
          [],
        );
        const [lowest = objectsMax] = candidates;
        for (let index = 0; index < lowest; index++) expect(isFull(index)).toBe(true);
      }),
    );
  });
});

describe("the memory of an isolate", () => {
  it("[B1] is of so many pools; that of which nothing was learned for longest is forgotten", () => {
    const pools = new Pools();
    const first = (name: string) => pools.candidates(name, 0)[0];
    const names = Array.from({ length: limits.poolsRememberedMax }, (_, index) => `room-${index}`);
    for (const name of names) pools.full(name, 0, 1_000);
    pools.full("room-0", 0, 1_000);
    pools.full("another", 0, 1_000);
    expect([first("room-0"), first("room-1"), first("room-2")]).toStrictEqual([1, 0, 1]);
    expect(first("another")).toBe(1);
  });

  it("[B1] isn't displaced by channels whose object isn't full", () => {
    const pools = new Pools();
    pools.full("hot", 0, 1_000);
    for (let index = 0; index < limits.poolsRememberedMax; index++) pools.took(`room-${index}`, 0);
    expect(pools.candidates("hot", 0)[0]).toBe(1);
  });
});
