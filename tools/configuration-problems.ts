import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import { parseConfig } from "../src/config/parse-config.ts";
import { optionValue, optionValues } from "./command-line.ts";

/**
 * Checks the configuration that a Worker will be given, before it is: a sentence for each thing that is wrong.
 *
 * @param options wrangler's command line, whose `--var config:…` replaces what wrangler.toml says
 */
export function configurationProblems(options: readonly string[]): readonly string[] {
  const given = optionValues(options, "--var").findLast((value) => value.startsWith("config:"));
  const file = optionValue(options, "--config") ?? join(root, "wrangler.toml");
  const config =
    given?.slice("config:".length) ?? readWranglerConfig({ config: file }).vars["config"];
  const parsed = parseConfig(config);
  return parsed.outcome === "bad" ? parsed.problems : [];
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
