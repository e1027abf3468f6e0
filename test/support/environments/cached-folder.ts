import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../cli/package-root.ts";

/**
 * A folder that is filled on first use, which takes a download, and reused from then on. It appears whole or not at all,
 * also if several processes fill it at the same time.
 *
 * @param name  of the environment
 * @param ofIts what its content depends on: another content is another folder
 * @param fill  puts everything into a new folder
 * @returns its path
 */
export async function cachedFolder(
  name: string,
  ofIts: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const environments = join(packageRoot, "node_modules", ".cache", `dormouse-${name}`);
  const folder = join(environments, createHash("sha256").update(ofIts).digest("hex").slice(0, 16));
  if (existsSync(folder)) return folder;
  mkdirSync(environments, { recursive: true });
  const unfinished = mkdtempSync(join(environments, "unfinished-"));
  try {
    await fill(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
