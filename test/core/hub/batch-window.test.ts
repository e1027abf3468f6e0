import { expect, it } from "vitest";
import { batchWindowMs } from "../../../src/hub/batch-window.ts";

it.each([
  [0, 0],
  [1, 0],
  [49, 0],
  [50, 1],
  [1_000, 20],
  [1_249, 24.98],
  [1_250, 25],
  [32_000, 25],
])("[F2] collects for %i listeners at most %d ms", (listeners, windowMs) => {
  expect(batchWindowMs(listeners)).toBeCloseTo(windowMs, 9);
});
