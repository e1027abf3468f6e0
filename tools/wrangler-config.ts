import { resolve } from "node:path";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import type { Target } from "./command-line.ts";
import { root } from "./wrangler.ts";

/** The path of wrangler's configuration file. */
export function configurationFile({ file = "wrangler.toml" }: Target): string {
  return resolve(root, file);
}

/** The configuration in that file for an environment, as wrangler reads it. */
export function wranglerConfigOf(target: Target): ReturnType<typeof readWranglerConfig> {
  const { environment: env } = target;
  return readWranglerConfig({
    config: configurationFile(target),
    ...(env !== undefined && { env }),
  });
}
