import type { ChannelOptions, Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";

/** A configuration as an operator writes it, parsed; throws what is wrong with it. */
export function configured(input: object = {}): Config {
  const parsed = parseConfig(input);
  if (parsed.outcome === "bad") throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

/** The options of channels without a namespace, written as an operator writes them. */
export function channelOptions(options: object): ChannelOptions {
  return configured({ channel: { without_namespace: options } }).channel.withoutNamespace;
}
