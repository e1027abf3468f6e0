import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../package-root.ts";
import { wranglerScript } from "../configuration/wrangler.ts";

/**
 * Builds the bundle that `npm run deploy` deploys, and returns its only module as text.
 *
 * @param folder  the folder of the sources with their wrangler.toml; by default this repository
 * @param options further options of wrangler's command line, such as `--env`
 */
export function productionBundle(
  folder: string = packageRoot,
  options: readonly string[] = [],
): string {
  const built = mkdtempSync(join(tmpdir(), "dormouse-bundle-"));
  try {
    const command = ["deploy", "--dry-run", "--outdir", built, ...options];
    execFileSync(process.execPath, [wranglerScript, ...command], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
    });
    // The bundle has the name of the main module.
    const name = readdirSync(built).find((file) => file.endsWith(".js"));
    return readFileSync(join(built, name ?? "edge.js"), "utf8");
  } finally {
    rmSync(built, { recursive: true });
  }
}
