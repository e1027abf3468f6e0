/** A folder of one run of the tests, in which its processes share what takes long to make; removed at the end of the run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the folder. */
    readonly runFolder: string;
  }
}

/** Called by vitest before the tests of a project. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-run-"));
  project.provide("runFolder", folder);
  return () => rmSync(folder, { recursive: true });
}
