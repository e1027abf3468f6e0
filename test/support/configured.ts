import type { ChannelOptions, Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";

/** Parses a configuration as an operator writes it; throws its problems. */
export function configured(input: object = {}): Config {
  const parsed = parseConfig(input);
  if (parsed.outcome === "bad") throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

/** The options of channels without a namespace, written as an operator writes them. */
export function channelOptions(options: object): ChannelOptions {
  return configured({ channel: { without_namespace: options } }).channel.withoutNamespace;
}
