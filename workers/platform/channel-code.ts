import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { type ChannelsCheck, channelsListener } from "../../src/contract/coded-configuration.ts";
import { withChannelCode } from "../../src/features/sections.ts";
import type { ChannelDefinitions } from "../../src/features/index.ts";
import { embeddedHere } from "./embedded.ts";

/**
 * Gives a server that stands alone the code of its channels. To be called once, at the top level of a module beside the
 * server's: the objects run that module, too.
 *
 * @param definitions by the names of the namespaces; "" for channels without one
 * @throws if it is called twice
 */
export function useChannels(definitions: ChannelDefinitions): void {
  // Vite gives it to modules that it can run again.
  if (given !== undefined && !("hot" in import.meta))
    throw new Error("useChannels() was called twice: name the code of all namespaces in one call");
  given = definitions;
  const listener: unknown = Reflect.get(globalThis, channelsListener);
  if (typeof listener === "function") listener(problemsUnder);
}

/** Gives `dormouse check` the problems of the code (rule OW14). A configuration that is wrong has problems of its own. */
const problemsUnder: ChannelsCheck = (config, place) => {
  const parsed = parseConfig(config, place);
  return parsed.outcome === "config" ? withCodeHere(parsed.config).problems : [];
};

let given: ChannelDefinitions | undefined;

/**
 * The configuration with the code of the channels, and the problems of that code. The type of the result is written out, so that the
 * declarations of the package's `channels` name no section: those of sections don't compile in an installed package.
 */
export function withCodeHere(config: Config): {
  readonly config: Config;
  readonly problems: readonly string[];
} {
  const definitions = embeddedHere()?.channels ?? given;
  return definitions === undefined
    ? { config, problems: [] }
    : withChannelCode(config, definitions);
}
