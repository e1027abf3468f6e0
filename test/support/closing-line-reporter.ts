import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line that any script can read: "N passed, N failed". */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        if (test.result().state === "passed") passed++;
        // A skipped test is one that nobody ran: it counts as a failure, so that none can creep in.
        else failed++;
      }
      // A file that could not be loaded has no tests to count.
      if (module.state() === "failed" && module.errors().length > 0) failed++;
    }
    // After the default reporter's own summary.
    process.once("exit", () => console.log(`${passed} passed, ${failed} failed`));
  }
}
