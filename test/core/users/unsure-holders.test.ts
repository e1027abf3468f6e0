import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { UnsureHolders } from "../../../src/users/unsure-holders.ts";

/** A home with so many holders of which it isn't sure. */
class UnsureHome {
  readonly waitsMs: number[] = [];
  asked: string[] = [];
  /** The most that were asked at a time. */
  mostAtOnce = 0;
  readonly #unsure: Set<string>;
  readonly #work: (() => void)[] = [];
  readonly #answers: ((isAnswered: boolean) => void)[] = [];

  constructor(holders: number) {
    this.#unsure = new Set(Array.from({ length: holders }, (_, index) => `gateway:eu/${index}`));
    const home = {
      get unsure(): readonly string[] {
        return [...unsure];
      },
      resolve: (holder: string) => void unsure.delete(holder),
    };
    const unsure = this.#unsure;
    const asking = new UnsureHolders(home, {
      nowMs: () => 1_000,
      after: (waitMs, work) => {
        this.waitsMs.push(waitMs);
        this.#work.push(work);
      },
      ask: (holder, done) => {
        this.asked.push(holder);
        this.#answers.push((isAnswered) => done(isAnswered ? { keys: [], ends: [] } : undefined));
        this.mostAtOnce = Math.max(this.mostAtOnce, this.#answers.length);
      },
      answered: () => undefined,
    });
    asking.askAfter(limits.unsureAskMs);
  }

  get unsure(): number {
    return this.#unsure.size;
  }

  /** The pause passes, and those that are asked answer, or don't. */
  round(areAnswering: boolean): void {
    this.#work.shift()?.();
    for (let next = this.#answers.shift(); next !== undefined; next = this.#answers.shift())
      next(areAnswering);
  }
}

describe("holders of which a home isn't sure", () => {
  it("[U41] are asked once each, some at a time, also if they are a thousand", () => {
    const home = new UnsureHome(1_000);
    home.round(true);
    expect([home.unsure, home.asked.length, new Set(home.asked).size]).toEqual([0, 1_000, 1_000]);
    expect(home.mostAtOnce).toBe(limits.unsureAskedAtOnce);
    expect(home.waitsMs).toEqual([limits.unsureAskMs]);
  });

  it("[U41] are asked again after ever longer pauses, and no more when that takes long", () => {
    const home = new UnsureHome(3);
    home.round(false);
    expect([home.unsure, home.asked.length]).toEqual([3, 3]);
    for (let round = 0; round < 10; round++) home.round(false);
    expect(home.unsure).toBe(3);
    const { unsureAskMs, unsureAskMsMax } = limits;
    expect(home.waitsMs[0]).toBe(unsureAskMs);
    for (const [index, waitMs] of home.waitsMs.slice(1).entries())
      expect(waitMs).toBe(4 * (home.waitsMs[index] ?? 0));
    expect(home.waitsMs.at(-1)).toBeLessThanOrEqual(unsureAskMsMax);
    expect(4 * (home.waitsMs.at(-1) ?? 0)).toBeGreaterThan(unsureAskMsMax);
  });

  it("[U41] are asked nothing when there are none", () => {
    expect(new UnsureHome(0).waitsMs).toEqual([]);
  });
});
