/** The maps of a world: one namespace for each name, with options so small that runs reach their bounds. */
import type { MapOptions } from "../../../src/features/maps/config.ts";
import { receiptsOf } from "./cursor-kinds.ts";
import { growthKindOf } from "./growth-kinds.ts";
import { namespaceOf } from "./namespace-of.ts";
import { presenceKindOf } from "./presence-kinds.ts";

/**
 * `map:` keeps all its changes, `slim:` so few that clients often have to read the state anew, `perm:` keeps its keys for
 * ever, `temp:` is in the memory of its object.
 */
export const mapKinds = ["map:m", "slim:s", "perm:p", "temp:t"];

/** The mode of a channel; undefined if it isn't a map. */
export function mapModeOf(channel: string): MapOptions["mode"] | undefined {
  return modes[namespaceOf(channel)];
}

/** Whether the channel is a map of any kind. */
export function isMap(channel: string): boolean {
  if (mapModeOf(channel) !== undefined) return true;
  return isMirror(channel) || growthKindOf(channel) !== undefined;
}

/** Whether only the server changes the map. */
export function isMirror(channel: string): boolean {
  return presenceKindOf(channel) !== undefined || receiptsOf(channel) !== undefined;
}

const modes: Readonly<Record<string, MapOptions["mode"]>> = {
  map: "recoverable",
  slim: "recoverable",
  perm: "persistent",
  temp: "ephemeral",
  bank: "persistent",
};

const open = {
  subscription_type: "map",
  presence: true,
  allow_subscribe_for_client: true,
  allow_presence_for_client: true,
};

/** A page holds a few of the keys, and a reply that makes a client live a few changes. */
const shared = {
  allow_publish_for_client: true,
  allow_remove_for_client: true,
  min_page_size: 1,
  default_page_size: 2,
  max_page_size: 4,
};

/** How the configuration describes them. */
export const mapNamespaces: readonly object[] = [
  {
    ...open,
    name: "map",
    map: { ...shared, mode: "recoverable", key_ttl: "8s", stream_size: 1_000, stream_ttl: "1h" },
  },
  {
    ...open,
    name: "slim",
    map: {
      ...shared,
      mode: "recoverable",
      key_ttl: "5s",
      stream_size: 4,
      stream_ttl: "20s",
      meta_ttl: "40s",
    },
  },
  {
    ...open,
    name: "perm",
    map: { ...shared, mode: "persistent", stream_size: 20, stream_ttl: "1m" },
  },
  { ...open, name: "temp", map: { ...shared, mode: "ephemeral", key_ttl: "8s" } },
];
