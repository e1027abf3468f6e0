import { describe, expect, it } from "vitest";
import {
  closingLine,
  countsIn,
  failureLine,
  failureLines,
} from "../../../../cli/check/closing-lines.ts";

describe("the last line of npm test", () => {
  it("is the sum of its runs", () => {
    const counts = countsIn([
      ["a test", "12 passed, 0 failed"],
      ["3 passed, 1 failed", ""],
    ]);
    expect(closingLine(counts)).toBe("15 passed, 1 failed");
  });

  it("counts a run that has ended before its last line as failed", () => {
    expect(countsIn([["12 passed, 0 failed"], ["a test"]])).toEqual({ passed: 12, failed: 1 });
    expect(countsIn([["it says: 12 passed, 0 failed"]])).toEqual({ passed: 0, failed: 1 });
  });

  it("comes after the names of the tests that failed, each once", () => {
    const line = failureLine("a file > a > b");
    expect(failureLines(["a test", line, line, "1 passed, 1 failed"])).toEqual([line]);
    expect(failureLines([`it says ${line}`])).toEqual([]);
  });
});
