/**
 * The last lines of a run of tests: "failed: FILE > TEST: WHY" for each failed test, and "N passed, N failed". As a program it prints
 * those of several runs together, whose output is in the files that it is given.
 */
import { readFileSync } from "node:fs";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const failurePrefix = "failed: ";

/** @param failure the file and name of a test that failed, and why */
export function failureLine(failure: string): string {
  return `${failurePrefix}${failure}`;
}

/** The lines of failed tests among those of a run, each once. */
export function failureLines(lines: readonly string[]): readonly string[] {
  return [...new Set(lines.filter((line) => line.startsWith(failurePrefix)))];
}

/**
 * The sum of several runs. One that ended without its line counts as a failure.
 *
 * @param outputs the lines of each run
 */
export function countsIn(outputs: readonly (readonly string[])[]): Counts {
  let passed = 0;
  let failed = 0;
  for (const lines of outputs) {
    const match = lines
      .map((line) => /^([0-9]+) passed, ([0-9]+) failed$/.exec(line))
      .findLast((found) => found !== null);
    passed += Number(match?.[1] ?? 0);
    failed += Number(match?.[2] ?? 1);
  }
  return { passed, failed };
}

export function closingLine({ passed, failed }: Counts): string {
  return `${passed} passed, ${failed} failed`;
}

if (import.meta.main) {
  const outputs = process.argv.slice(2).map((file) => readFileSync(file, "utf8").split("\n"));
  console.log([...outputs.flatMap(failureLines), closingLine(countsIn(outputs))].join("\n"));
}
