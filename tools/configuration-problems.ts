import type { Config } from "../src/config/config.ts";
import { type ParsedConfig, parseConfig } from "../src/config/parse-config.ts";
import { type Target, targetOf } from "./command-line.ts";
import { wranglerConfigOf } from "./wrangler-config.ts";

/**
 * Checks the configuration of a Worker before the Worker gets it, and prints its problems.
 *
 * @param options wrangler's command line
 * @returns the parsed configuration; undefined if it is invalid
 */
export function checkConfiguration(options: readonly string[]): Config | undefined {
  const parsed = parseConfiguration(targetOf(options));
  if (parsed.outcome === "config") return parsed.config;
  const lines = parsed.problems.map((problem) => `  ${problem}`).join("\n");
  console.error(`The configuration is invalid:\n${lines}`);
  return undefined;
}

function parseConfiguration(target: Target): ParsedConfig {
  const wranglerConfig = wranglerConfigOf(target);
  return parseConfig(target.config ?? wranglerConfig.vars["config"]);
}
