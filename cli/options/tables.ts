/** The tables of options in the documents: where each table's options stand, and the refused options of Centrifugo in it. */
import type { Options } from "../../src/config/option.ts";
import {
  type UnsupportedKeys,
  unsupportedApiKeyKeys,
  unsupportedChannelKeys,
  unsupportedChannelOptions,
  unsupportedClientKeys,
  unsupportedHttpApiKeys,
  unsupportedRateLimits,
  unsupportedStreamKeys,
  unsupportedSwaggerKeys,
  unsupportedTokenKeys,
  unsupportedTopLevelKeys,
  unsupportedUniWebsocketKeys,
} from "../../src/config/unsupported.ts";
import { unsupportedHookHttpKeys, unsupportedHookKeys } from "../../src/features/hooks/backends.ts";
import {
  unsupportedChannelProxyKeys,
  unsupportedHookOptions,
  unsupportedRpcPingKeys,
} from "../../src/features/hooks/config.ts";
import { unsupportedMapOptions } from "../../src/features/maps/config.ts";
import { unsupportedPrometheusKeys } from "../../src/features/metrics/config.ts";
import {
  unsupportedSharedPollKeys,
  unsupportedSharedPollOptions,
} from "../../src/features/shared-polls/config.ts";
import { below, optionsAt, type PlacedOption, placedOptions } from "./tree.ts";

/** A table of the documents. */
interface Table {
  /** The path of its options in the configuration. */
  readonly at: string;
  /** The text before their names. */
  readonly prefix?: string;
  /** The options that are in it, by what their names begin with; absent: all but those of `others`. */
  readonly only?: readonly string[];
  readonly without?: readonly string[];
  /** Sections whose options have a table of their own. */
  readonly single?: readonly string[];
  readonly unsupported?: UnsupportedKeys;
}

/** Keys of sections within a section, by their paths from there. */
function under(prefix: string, keys: UnsupportedKeys): UnsupportedKeys {
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [`${prefix}.${name}`, key]));
}

/** `sse`, `http_stream` and their like; those of all streams once. */
const transports = [
  "sse",
  "http_stream",
  "uni_sse",
  "uni_http_stream",
  "uni_websocket",
  "long_poll",
];

const { websocket, emulation, ...otherSections } = unsupportedTopLevelKeys;

/** By the names that the places in the documents have. */
export const tables: Readonly<Record<string, Table>> = {
  client: {
    at: "client",
    single: [
      "rate_limit.client_command",
      "rate_limit.user_command",
      "token",
      "subscription_token",
      "proxy",
    ],
    unsupported: { ...unsupportedClientKeys, ...under("rate_limit", unsupportedRateLimits) },
  },
  rates: { at: "client.rate_limit.client_command.publish" },
  tokens: {
    at: "client.subscription_token",
    single: ["issuers"],
    unsupported: unsupportedTokenKeys("TOKEN"),
  },
  issuers: {
    at: "client.token.issuers",
    prefix: "issuers[].",
    only: ["issuer", "hmac_secret"],
  },
  channel: {
    at: "channel",
    single: ["proxy", "without_namespace", "namespaces"],
    unsupported: unsupportedChannelKeys,
  },
  namespace: {
    at: "channel.namespaces",
    single: ["map", "shared_poll", "cursors"],
    unsupported: { ...unsupportedHookOptions, ...unsupportedChannelOptions },
  },
  map: { at: "channel.namespaces.map", unsupported: unsupportedMapOptions },
  poll: { at: "channel.namespaces.shared_poll", unsupported: unsupportedSharedPollOptions },
  cursors: { at: "channel.namespaces.cursors" },
  shared_poll: { at: "shared_poll", unsupported: unsupportedSharedPollKeys },
  rpc: { at: "rpc", single: ["proxy"], unsupported: under("ping", unsupportedRpcPingKeys) },
  backend: {
    at: "proxies",
    without: ["name"],
    unsupported: {
      ...unsupportedHookKeys,
      ...under("http", unsupportedHookHttpKeys),
    },
  },
  hooks: {
    at: "",
    only: [
      "client.proxy.connect.enabled",
      "client.proxy.connect.at",
      "client.proxy.refresh.enabled",
      "client.proxy.message.enabled",
      "proxies",
    ],
    single: ["proxies"],
    unsupported: under("channel.proxy", unsupportedChannelProxyKeys),
  },
  transports: {
    at: "",
    only: transports.map((name) => `${name}.enabled`),
    unsupported: {
      ...under("sse", unsupportedStreamKeys("/connection/sse")),
      ...under("http_stream", unsupportedStreamKeys("/connection/http_stream")),
      ...under("uni_sse", unsupportedStreamKeys("/connection/uni_sse")),
      ...under("uni_http_stream", unsupportedStreamKeys("/connection/uni_http_stream")),
      ...under("uni_websocket", unsupportedUniWebsocketKeys),
      ...(websocket && { websocket }),
      ...(emulation && { emulation }),
    },
  },
  prometheus: { at: "prometheus", unsupported: unsupportedPrometheusKeys },
  console: { at: "console" },
  http_api: { at: "http_api", single: ["keys"], unsupported: unsupportedHttpApiKeys },
  keys: { at: "http_api.keys", prefix: "keys[].", unsupported: unsupportedApiKeyKeys },
  swagger: { at: "swagger", unsupported: unsupportedSwaggerKeys },
  placement: { at: "placement" },
  consumers: { at: "consumers", prefix: "consumers[]." },
  pusher: { at: "pusher", prefix: "pusher." },
  events: { at: "events" },
  others: { at: "", only: ["insecure_endpoints"], unsupported: otherSections },
};

/** An option with the name that it has in a table. */
export interface TableRow extends PlacedOption {
  readonly shown: string;
}

/** The rows of a table. */
export function rowsOf({
  at,
  prefix = "",
  only,
  without = [],
  single = [],
}: Table): readonly TableRow[] {
  const { options, isOwn } = optionsAt(at);
  const isIn = (path: string) =>
    !without.includes(path) && (only === undefined || only.some((one) => one === path));
  const walk = (section: Options, above: string, own: boolean): readonly TableRow[] =>
    placedOptions(section, own).flatMap((placed) => {
      const path = above + placed.name;
      const inside = single.includes(path) ? undefined : below(placed.option);
      if (inside === undefined) return isIn(path) ? [{ ...placed, shown: prefix + path }] : [];
      return walk(inside, `${path}${placed.option.is === "sections" ? "[]" : ""}.`, placed.isOwn);
    });
  return walk(options, "", isOwn);
}
