import { readChannelSection } from "./channel.ts";
import { readClientSection } from "./client.ts";
import { parseConfigDocument } from "./config-document.ts";
import type { Config } from "./config.ts";
import { readHttpApiSection } from "./http-api-section.ts";
import { checkPersonalChannel } from "./personal-channel-section.ts";
import { readRpcSection } from "./rpc-section.ts";
import { Section } from "./section.ts";
import { readTransports } from "./transports-section.ts";
import { unsupportedTopLevelKeys } from "./unsupported.ts";

/** The configuration, or all that is wrong with it. */
export type ParsedConfig =
  | { readonly outcome: "config"; readonly config: Config }
  /** Sentences, each about one key and with its full path; never empty. */
  | { readonly outcome: "bad"; readonly problems: readonly string[] };

/**
 * Parses what the operator configured: Centrifugo's `config.json`, with its names and nesting (reference 5.6 to 8).
 *
 * A key that Dormouse doesn't have is refused, because to ignore it would be to promise what isn't kept. No value of a
 * key that may be a secret appears in a problem.
 *
 * @param input an object, JSON text of one, or undefined for all defaults
 */
export function parseConfig(input: unknown): ParsedConfig {
  const parsed = parseConfigDocument(input);
  if (parsed.outcome === "bad") return { outcome: "bad", problems: [parsed.problem] };
  const problems: string[] = [];
  const root = new Section("", parsed.document, problems);
  const channelSection = root.section("channel");
  const config: Config = {
    client: readClientSection(root.section("client")),
    channel: readChannelSection(channelSection),
    httpApi: readHttpApiSection(root.section("http_api")),
    rpc: readRpcSection(root.section("rpc")),
    transports: readTransports(root),
  };
  const namespacesKnown = root.isSound("channel") && channelSection.isSound("namespaces");
  if (namespacesKnown) checkPersonalChannel(config, root);
  root.refuseOthers(unsupportedTopLevelKeys);
  return problems.length === 0 ? { outcome: "config", config } : { outcome: "bad", problems };
}
