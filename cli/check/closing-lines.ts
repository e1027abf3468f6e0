/** The last line of a run of tests, "N passed, N failed", and the sum of several. */

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
