import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import type { Target } from "../configuration/command-line.ts";
import { packageRoot } from "../package-root.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";

/**
 * The path of wrangler's configuration file: the named one, or the one that wrangler finds. What is checked has to be
 * what wrangler deploys.
 *
 * @param folder the folder in which wrangler runs
 */
export function configurationFile({ file }: Target, folder: string = packageRoot): string {
  const found = wranglerFiles.find((name) => existsSync(resolve(folder, name)));
  return resolve(folder, file ?? found ?? "wrangler.toml");
}

/** The configuration in that file for an environment, as wrangler reads it. */
export function wranglerConfigOf(target: Target): ReturnType<typeof readWranglerConfig> {
  const { environment: env } = target;
  return readWranglerConfig({
    config: configurationFile(target),
    ...(env !== undefined && { env }),
  });
}
