import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { packageRoot } from "../../cli/package-root.ts";

/**
 * The files that take longest, longest first. Most of them wait: started last, each would keep a run from its end while
 * the processors have nothing to do.
 */
const longest = [
  "examples/ai-chat",
  "examples/ai-answer",
  "connection/keepalive",
  "programs/start",
  "programs/own-worker",
  "programs/prometheus",
  "programs/documented-commands",
  "pages/console",
  "programs/outbox",
  "programs/restart",
  "connection/every-wire-tokens",
  "programs/coded-configuration",
  "programs/other-versions",
  "programs/template",
  "pages/console-channels",
  "pages/console-operator",
  "programs/doctor",
  "programs/update",
  "programs/command-line",
  "programs/serve",
  "connection/streams",
  "connection/expiry",
  "bounds/endless-bodies",
].map((name) => `test/clients/${name}.test.ts`);

for (const path of longest)
  if (!existsSync(join(packageRoot, path))) throw new Error(`${path} isn't there any more`);

/** Runs the files that take longest first, and the others in vitest's own order: a fresh clone knows no times. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((path) => moduleId.endsWith(path));
  return rank === -1 ? longest.length : rank;
}
