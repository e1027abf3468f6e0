import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../../cli/package-root.ts";
import type { Protection } from "./protection.ts";

/** One change of the source. */
export type Change = Pick<Protection, "name" | "file" | "code" | "weakened">;

/** What a production bundle is built from. */
export const bundled = ["src", "workers", "public", "wrangler.toml", "package.json"];

/**
 * Copies parts of the repository with one change or several, lets them be used, and removes the copy.
 *
 * @param parts files and folders, from the repository's root
 * @param use   takes the path of the copy
 * @throws if the code doesn't occur in its file exactly once
 */
export function withChangedCopy<Result>(
  change: Change | readonly Change[],
  parts: readonly string[],
  use: (folder: string) => Result,
): Result {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-weakened-"));
  try {
    for (const part of parts)
      cpSync(join(packageRoot, part), join(folder, part), { recursive: true });
    symlinkSync(join(packageRoot, "node_modules"), join(folder, "node_modules"));
    for (const each of "file" in change ? [change] : change) {
      const file = join(folder, each.file);
      writeFileSync(file, changed(readFileSync(file, "utf8"), each));
    }
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @throws if the code doesn't occur in the source exactly once */
export function changed(source: string, { name, file, code, weakened }: Change): string {
  const [before, after, ...more] = source.split(code);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${name} doesn't stand once in ${file}`);
  }
  return before + weakened + after;
}
