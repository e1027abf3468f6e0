import type { PresenceKind } from "../../../src/contract/relay-request.ts";
import { namespaceOf } from "./namespace-of.ts";

/** The channel whose subscribers the presence maps of a world show. */
export const shownChannel = "room:r";

/** The channel and its presence maps. */
export const presenceChannels = [shownChannel, "clients:room:r", "users:room:r"] as const;

/** What the keys of a channel are; undefined if it isn't a presence map. */
export function presenceKindOf(channel: string): PresenceKind | undefined {
  const namespace = namespaceOf(channel);
  return namespace === "clients" || namespace === "users" ? namespace : undefined;
}

/** The `key_ttl` of the presence maps, ms. */
const presenceKeyTtlMs = 40_000;

const open = {
  presence: true,
  allow_subscribe_for_client: true,
  allow_presence_for_client: true,
};

const map = {
  mode: "ephemeral",
  key_ttl: `${presenceKeyTtlMs}ms`,
  min_page_size: 1,
  default_page_size: 2,
  max_page_size: 4,
};

/** How the configuration describes them. */
export const presenceNamespaces: readonly object[] = [
  {
    ...open,
    name: "room",
    allow_publish_for_client: true,
    history_size: 1_000,
    history_ttl: "1h",
    history_meta_ttl: "24h",
    force_recovery: true,
    map_clients_presence_channel_prefix: "clients:",
    map_users_presence_channel_prefix: "users:",
  },
  { ...open, name: "clients", subscription_type: "map_clients", map },
  { ...open, name: "users", subscription_type: "map_users", map },
];
