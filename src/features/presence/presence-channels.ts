import type { ChannelConfig } from "../../config/config.ts";
import type { PresenceKind } from "../../contract/relay-request.ts";
import { resolveChannel } from "../../channel/channel-name.ts";

/** A presence map, or the channel whose subscribers it shows (rule Z36). */
export interface PresenceChannel {
  readonly kind: PresenceKind;
  readonly channel: string;
}

/**
 * The presence maps of a channel: those whose names stand for channels of the right type. A prefix may make a name that is
 * too long, or of no namespace; then nobody can look at such a map, and nothing is told.
 */
export function presenceMapsOf(name: string, config: ChannelConfig): readonly PresenceChannel[] {
  const found = resolveChannel(name, config);
  if (found.outcome !== "resolved") return [];
  const { presenceMaps = {} } = found.options;
  return kinds.flatMap((kind) => {
    const prefix = presenceMaps[kind];
    if (prefix === undefined) return [];
    const channel = prefix + name;
    return kindOf(channel, config) === kind ? [{ kind, channel }] : [];
  });
}

/** The channel whose subscribers a presence map shows; undefined if the channel isn't one, or shows no channel. */
export function shownChannelOf(name: string, config: ChannelConfig): PresenceChannel | undefined {
  const kind = kindOf(name, config);
  if (kind === undefined) return undefined;
  for (const { presenceMaps } of [config.withoutNamespace, ...config.namespaces.values()]) {
    const prefix = presenceMaps?.[kind];
    if (prefix === undefined || !name.startsWith(prefix)) continue;
    const channel = name.slice(prefix.length);
    const shown = resolveChannel(channel, config);
    if (shown.outcome === "resolved" && shown.options.presenceMaps?.[kind] === prefix)
      return { kind, channel };
  }
  return undefined;
}

const kinds = ["clients", "users"] as const;

/** What the keys of a presence map are; undefined if the channel isn't one. */
function kindOf(name: string, config: ChannelConfig): PresenceKind | undefined {
  const found = resolveChannel(name, config);
  if (found.outcome !== "resolved") return undefined;
  const { subscriptionType: type } = found.options;
  if (type === "map_clients") return "clients";
  return type === "map_users" ? "users" : undefined;
}
