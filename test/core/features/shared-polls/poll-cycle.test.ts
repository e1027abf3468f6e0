import { describe, expect, it } from "vitest";
import { pollLimits } from "../../../../src/features/shared-polls/limits.ts";
import { PollCycle, type PollQuestion } from "../../../../src/features/shared-polls/poll-cycle.ts";

const all = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);

/** A cycle over so many keys, all of which are polled. */
function cycleOf(count: number, { intervalMs = 1_000, batchMax = 2 } = {}) {
  const cycle = new PollCycle(intervalMs, batchMax);
  const keys = all(count);
  cycle.start(0);
  const next = (nowMs: number) =>
    cycle.next(
      () => keys,
      () => true,
      nowMs,
    );
  const nextAll = (nowMs: number): PollQuestion[] => {
    const question = next(nowMs);
    return question === undefined ? [] : [question, ...nextAll(nowMs)];
  };
  return { cycle, next, nextAll };
}

describe("the cycle of a shared poll", () => {
  it("[SP4] begins again only after all questions of the cycle before were answered", () => {
    const { cycle, next, nextAll } = cycleOf(4);
    const [first, second] = nextAll(1_000);
    if (first === undefined || second === undefined) throw new Error("no questions");
    cycle.ended(first, "answered", 1_500);
    expect([next(9_000), cycle.dueAtMs(9_000)]).toEqual([undefined, Infinity]);
    cycle.ended(second, "answered", 9_000);
    expect(nextAll(9_000)).toHaveLength(2);
  });

  it("[SP4] has at most limits.pollsInFlightMax questions in flight", () => {
    const { cycle, nextAll } = cycleOf(pollLimits.pollsInFlightMax * 2 + 2);
    const questions = nextAll(1_000);
    expect(questions).toHaveLength(pollLimits.pollsInFlightMax);
    expect(cycle.dueAtMs(1_000)).toBe(Infinity);
    const [first] = questions;
    if (first !== undefined) cycle.ended(first, "answered", 1_000);
    expect(nextAll(1_000)).toHaveLength(1);
  });

  it("[SP3] asks for new keys at once, but never for a key that is in flight", () => {
    const { cycle, next } = cycleOf(1);
    cycle.askSoon("k0");
    expect(cycle.dueAtMs(0)).toBe(0);
    const asked = next(0);
    expect(asked).toEqual({ keys: ["k0"], ofCycle: false });
    cycle.askSoon("k0");
    cycle.askSoon("k9");
    const other = next(0);
    expect(other?.keys).toEqual(["k9"]);
    expect(next(0)).toBeUndefined();
    if (asked !== undefined) cycle.ended(asked, "answered", 10);
    expect(next(10)?.keys).toEqual(["k0"]);
  });

  it("[SP5] leaves the rest of a failed cycle out, and repeats it soon, though ever later", () => {
    const { cycle, next, nextAll } = cycleOf(pollLimits.pollsInFlightMax * 2 + 2, {
      intervalMs: 3_600_000,
    });
    const failAll = (nowMs: number) => {
      for (const question of nextAll(nowMs)) cycle.ended(question, "failed", nowMs);
    };
    const [first, ...others] = nextAll(3_600_000);
    if (first !== undefined) cycle.ended(first, "failed", 3_600_000);
    // The rest isn't asked, although there is room again.
    expect(next(3_600_000)).toBeUndefined();
    for (const question of others) cycle.ended(question, "answered", 3_600_000);
    expect(cycle.dueAtMs(3_600_000)).toBe(3_600_000 + pollLimits.pollRetryMs);
    let nowMs = 3_600_000;
    const pauses: number[] = [];
    for (let round = 0; round < 4; round++) {
      nowMs = cycle.dueAtMs(nowMs);
      failAll(nowMs);
      pauses.push(cycle.dueAtMs(nowMs) - nowMs);
    }
    expect(pauses.at(-1)).toBe(pollLimits.pollRetryMsMax);
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
  });

  it("[SP5] is not sooner repeated than the interval says", () => {
    const { cycle, next } = cycleOf(1, { intervalMs: 200 });
    const question = next(200);
    if (question !== undefined) cycle.ended(question, "failed", 210);
    expect(cycle.dueAtMs(210)).toBe(400);
  });

  it("[SP3] asks nothing any more once it is stopped", () => {
    const { cycle, next } = cycleOf(3);
    const question = next(1_000);
    cycle.askSoon("k2");
    cycle.stop();
    if (question !== undefined) cycle.ended(question, "failed", 1_000);
    expect([next(99_000), cycle.dueAtMs(99_000)]).toEqual([undefined, Infinity]);
  });
});
