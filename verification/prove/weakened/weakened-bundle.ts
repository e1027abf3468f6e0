import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../../tools/wrangler.ts";
import { productionBundle } from "../../../tools/production-bundle.ts";
import type { Protection } from "./protections.ts";

/** Builds the production bundle without one protection, from a copy of the sources. */
export function weakenedBundle(protection: Protection): string {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-weakened-"));
  try {
    for (const part of [
      "src",
      "workers",
      "public",
      "wrangler.toml",
      "package.json",
      "tsconfig.json",
    ]) {
      cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const file = join(folder, protection.file);
    writeFileSync(file, weakened(readFileSync(file, "utf8"), protection));
    return productionBundle(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @throws if the protection's code doesn't occur in the source exactly once */
export function weakened(
  source: string,
  { name, file, code, weakened: without }: Protection,
): string {
  const [before, after, ...more] = source.split(code);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${name} doesn't stand once in ${file}`);
  }
  return before + without + after;
}
