/**
 * The last line of a run of tests, "N passed, N failed", and the sum of several. As a program it prints the sum of the runs
 * whose output is in the files that it is given.
 */
import { readFileSync } from "node:fs";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
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
  console.log(closingLine(countsIn(outputs)));
}
