import { describe, expect, it } from "vitest";
import { GuessBound } from "../../../../src/features/console/guess-bound.ts";
import { consoleLimits } from "../../../../src/features/console/limits.ts";

const startMs = 1_700_000_000_000;
const { consoleGuessesFree: free, consoleGuessWaitMs: firstMs } = consoleLimits;
const { consoleGuessWaitMsMax: longestMs, consoleGuessesForgottenMs: forgottenMs } = consoleLimits;

/** A bound whose free guesses were all wrong. */
function used(): GuessBound {
  const guesses = new GuessBound();
  for (let wrong = 0; wrong < free; wrong++) expect(guesses.attempt(startMs)).toBe(0);
  return guesses;
}

describe("the bound of guesses", () => {
  it("[N10] doubles the wait with each wrong one up to the longest, and doesn't grow while it is closed", () => {
    const guesses = used();
    let nowMs = startMs;
    for (const waitMs of [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * firstMs)) {
      for (let flood = 0; flood < 100; flood++) expect(guesses.attempt(nowMs)).toBe(waitMs);
      expect(guesses.attempt(nowMs + waitMs - 1)).toBe(1);
      nowMs += waitMs;
      expect(guesses.attempt(nowMs)).toBe(0);
    }
  });

  it("[N10] admits no more than 1,500 guesses in a day to somebody who never pauses", () => {
    const guesses = new GuessBound();
    let compared = 0;
    for (let second = 0; second < 86_400; second++)
      if (guesses.attempt(startMs + second * 1_000) === 0) compared++;
    expect(compared).toBeLessThan(1_500);
  });

  it("[N10] forgets wrong ones after a pause, and counts no right one", () => {
    const guesses = used();
    expect(guesses.attempt(startMs + forgottenMs)).toBe(0);
    for (let right = 0; right < free * 2; right++) {
      guesses.right();
      expect(guesses.attempt(startMs + forgottenMs)).toBe(0);
    }
  });

  it("[N10] doesn't wait longer after the clock was set back", () => {
    const guesses = used();
    expect(guesses.attempt(startMs - longestMs)).toBe(0);
    expect(guesses.attempt(startMs - longestMs)).toBeLessThanOrEqual(longestMs);
  });
});
