import { resolve } from "node:path";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import { parseConfig } from "../src/config/parse-config.ts";
import { type Target, targetOf } from "./command-line.ts";
import { root } from "./wrangler.ts";

/**
 * Checks the configuration that a Worker will be given, before it is, and says on the console what is wrong with it.
 *
 * @param options wrangler's command line
 * @returns whether the Worker could use it
 */
export function checkConfiguration(options: readonly string[]): boolean {
  const problems = configurationProblems(targetOf(options));
  if (problems.length === 0) return true;
  const lines = problems.map((problem) => `  ${problem}`).join("\n");
  console.error(`The configuration can't be used:\n${lines}`);
  return false;
}

/** The file in which wrangler finds the configuration. */
export function configurationFile({ file = "wrangler.toml" }: Target): string {
  return resolve(root, file);
}

function configurationProblems(target: Target): readonly string[] {
  const { environment: env, config } = target;
  const wranglerConfig = readWranglerConfig({
    config: configurationFile(target),
    ...(env !== undefined && { env }),
  });
  const parsed = parseConfig(config ?? wranglerConfig.vars["config"]);
  return parsed.outcome === "bad" ? parsed.problems : [];
}
