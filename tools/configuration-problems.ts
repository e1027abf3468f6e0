import type { Config } from "../src/config/config.ts";
import { parseConfig } from "../src/config/parse-config.ts";
import { missingBindings } from "../src/contract/bindings.ts";
import { targetOf } from "./command-line.ts";
import { wranglerConfigOf } from "./wrangler-config.ts";

/**
 * Checks the configuration of a Worker before the Worker gets it, and prints its problems.
 *
 * @param options wrangler's command line
 * @returns the parsed configuration; undefined if it is invalid
 */
export function checkConfiguration(options: readonly string[]): Config | undefined {
  const target = targetOf(options);
  const wranglerConfig = wranglerConfigOf(target);
  const parsed = parseConfig(target.config ?? wranglerConfig.vars["config"]);
  const problems = [
    ...unboundObjects(wranglerConfig),
    ...(parsed.outcome === "bad" ? parsed.problems : []),
  ];
  if (parsed.outcome === "config" && problems.length === 0) return parsed.config;
  const lines = problems.map((problem) => `  ${problem}`).join("\n");
  console.error(`The configuration is invalid:\n${lines}`);
  return undefined;
}

function unboundObjects(wranglerConfig: ReturnType<typeof wranglerConfigOf>): readonly string[] {
  const { bindings } = wranglerConfig.durable_objects;
  return missingBindings((name, className) =>
    bindings.some(
      (one: { readonly name: string; readonly class_name: string }) =>
        one.name === name && one.class_name === className,
    ),
  );
}
