import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Esbuild from "esbuild";
import type * as Miniflare from "miniflare";
import type * as Wrangler from "wrangler";
import { DormouseTestError } from "./test-error.ts";

/** The folder of this package, also for what was built of it. */
export const packageFolder: string = folderAbove(fileURLToPath(import.meta.url));

function folderAbove(path: string): string {
  const folder = dirname(path);
  return existsSync(join(folder, "package.json")) ? folder : folderAbove(folder);
}

/**
 * The runtime that `wrangler dev` has, in the version of the project, so that tests run in what the project is developed with.
 *
 * @throws {DormouseTestError} if wrangler isn't installed
 */
export function miniflareModule(): typeof Miniflare {
  return requireOfWrangler()("miniflare");
}

/** The bundler of wrangler, as {@link miniflareModule}. */
export function esbuildModule(): typeof Esbuild {
  return requireOfWrangler()("esbuild");
}

/** Wrangler itself, as {@link miniflareModule}. It takes long to load: only what has a wrangler file needs it. */
export function wranglerModule(): typeof Wrangler {
  return requireOfWrangler()("wrangler");
}

function requireOfWrangler(): NodeJS.Require {
  const found = [join(process.cwd(), "package.json"), import.meta.url]
    .map((from) => wranglerFrom(from))
    .find((path) => path !== undefined);
  if (found === undefined)
    throw new DormouseTestError(
      "the test kit runs the server in the runtime of wrangler, which isn't installed: npm install --save-dev wrangler",
    );
  return createRequire(pathToFileURL(found));
}

function wranglerFrom(from: string): string | undefined {
  try {
    return createRequire(from).resolve("wrangler/package.json");
  } catch {
    return undefined; // The only error is that there is none.
  }
}

/** The text of a file of the package. */
export function packageText(...path: readonly string[]): string {
  return readFileSync(join(packageFolder, ...path), "utf8");
}

/** Whether the package is a clone with its sources; else it was installed, and has what was built of them. */
export const isClone: boolean = existsSync(join(packageFolder, "workers", "edge.ts"));
