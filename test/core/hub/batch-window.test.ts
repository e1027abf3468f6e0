import { expect, it } from "vitest";
import { batchWindowMs } from "../../../src/hub/batch-window.ts";

it.each([
  [0, 0],
  [1, 0],
  [199, 0],
  [200, 1],
  [1_000, 5],
  [4_999, 24.995],
  [5_000, 25],
  [32_000, 25],
])("[F2] collects for %i listeners at most %d ms", (listeners, windowMs) => {
  expect(batchWindowMs(listeners)).toBeCloseTo(windowMs, 9);
});
