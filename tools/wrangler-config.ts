import { resolve } from "node:path";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import type { Target } from "./command-line.ts";
import { root } from "./wrangler.ts";

/** The file in which wrangler finds the configuration. */
export function configurationFile({ file = "wrangler.toml" }: Target): string {
  return resolve(root, file);
}

/** What that file says of the environment that is meant, as wrangler understands it. */
export function wranglerConfigOf(target: Target): ReturnType<typeof readWranglerConfig> {
  const { environment: env } = target;
  return readWranglerConfig({
    config: configurationFile(target),
    ...(env !== undefined && { env }),
  });
}
