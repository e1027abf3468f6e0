import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";

/** The configuration an input gives; fails the test with the problems when there are any. */
export function configOf(input: unknown): Config {
  const parsed = parseConfig(input);
  if (parsed.outcome === "bad") throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

/** The problems an input has; empty when it has none. */
export function problemsOf(input: unknown): readonly string[] {
  const parsed = parseConfig(input);
  return parsed.outcome === "bad" ? parsed.problems : [];
}
