import type { Config } from "../../src/config/config.ts";
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
}

let given: ChannelDefinitions | undefined;

/** The configuration with the code of the channels, and what is wrong with that code. */
export function withCodeHere(config: Config): ReturnType<typeof withChannelCode> {
  const definitions = embeddedHere()?.channels ?? given;
  return definitions === undefined
    ? { config, problems: [] }
    : withChannelCode(config, definitions);
}
