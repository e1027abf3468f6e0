import { closingLine } from "../../cli/check/closing-lines.ts";
import type { Reporter, TestModule } from "vitest/node";

/** Ends the output of a run with one plain line for scripts: "N passed, N failed". */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      const isFiltered = module.project.config.testNamePattern !== undefined;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        // A skipped test counts as failed, so that none goes unnoticed, except if the run was filtered by name.
        else if (state !== "skipped" || !isFiltered) failed++;
      }
      // A file that could not be loaded has no tests to count.
      if (module.state() === "failed" && module.errors().length > 0) failed++;
    }
    // After the default reporter's own summary.
    process.once("exit", () => console.log(closingLine({ passed, failed })));
  }
}
