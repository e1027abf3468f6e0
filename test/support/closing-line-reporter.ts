import { closingLine, failureLine } from "../../cli/check/closing-lines.ts";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends the output of a run with plain lines for scripts: "failed: FILE > TEST: WHY" for each failed test, and "N passed, N failed".
 * Who sees only the end of a long output still learns what failed.
 */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    const failures = errors.map(() => "an error outside of the tests");
    for (const module of modules) {
      const isFiltered = module.project.config.testNamePattern !== undefined;
      for (const test of module.children.allTests()) {
        const { state, errors: [error] = [] } = test.result();
        if (state === "passed") passed++;
        // A skipped test counts as failed, so that none goes unnoticed, except if the run was filtered by name.
        else if (state !== "skipped" || !isFiltered)
          failures.push(`${module.relativeModuleId} > ${test.fullName}: ${reasonOf(error)}`);
      }
      // A file that could not be loaded has no tests to count.
      if (module.state() === "failed" && module.errors().length > 0)
        failures.push(module.relativeModuleId);
    }
    // After the default reporter's own summary.
    const lines = [...failures.map(failureLine), closingLine({ passed, failed: failures.length })];
    process.once("exit", () => console.log(lines.join("\n")));
  }
}

/** The first line of an error's message, at most as long as a line that one still reads. */
function reasonOf(error: { readonly message: string } | undefined): string {
  return error?.message.split("\n", 1)[0]?.slice(0, 300) ?? "skipped";
}
