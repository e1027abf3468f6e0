import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBucket } from "../../../../src/session/token-bucket.ts";
import { startMs } from "../channel-fixture.ts";

/** The outcomes of so many takes at one time. */
function takes(
  allowance: TokenBucket,
  count: number,
  nowMs: number,
): ReturnType<TokenBucket["spend"]>[] {
  return Array.from({ length: count }, () => allowance.spend(nowMs));
}

describe("a token bucket", () => {
  it("[B7] counts refused takes: a client that never pauses is never granted one", () => {
    const allowance = new TokenBucket({ burst: 2, perSecond: 1 });
    takes(allowance, 2, startMs);
    const outcomes = Array.from({ length: 20 }, (_, index) =>
      allowance.spend(startMs + (index + 1) * 500),
    );
    expect(outcomes.slice(0, 4)).toStrictEqual(["over", "over", "over", "over"]);
    expect(outcomes.at(-1)).toBe("far-over");
  });

  it("[B7] gives nothing for a clock that was set back, and isn't stuck after it", () => {
    const allowance = new TokenBucket({ burst: 1, perSecond: 1 });
    expect(takes(allowance, 1, startMs)).toStrictEqual(["granted"]);
    expect(takes(allowance, 1, startMs - 3_600_000)).toStrictEqual(["over"]);
    expect(takes(allowance, 1, startMs - 3_600_000 + 2_000)).toStrictEqual(["granted"]);
  });

  it("[B7] never grants more than the burst and its rate over time", () => {
    const anySteps = fc.array(fc.nat(2_000), { maxLength: 200, size: "max" });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        anySteps,
        (burst, perSecond, steps) => {
          const allowance = new TokenBucket({ burst, perSecond });
          let nowMs = startMs;
          let granted = 0;
          for (const step of steps) {
            nowMs += step % 3 === 0 ? step : 0;
            if (allowance.spend(nowMs) === "granted") granted++;
          }
          expect(granted).toBeLessThanOrEqual(burst + ((nowMs - startMs) / 1000) * perSecond);
        },
      ),
      { seed: 20_261_123, numRuns: 300 },
    );
  });
});
