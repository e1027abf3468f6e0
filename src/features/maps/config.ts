import { mapLimits } from "./limits.ts";
import { growthLimits } from "./growth/limits.ts";
import { limits } from "../../limits.ts";
import type { ChannelOptions, HookTarget } from "../../config/config.ts";
import { longestDurationMs, readOption, readOptions } from "../../config/fields.ts";
import type { Options, Values } from "../../config/option.ts";
import type { HookTargets } from "../hooks/config.ts";
import type { ChannelBackends, ChannelType } from "../../config/channel-features.ts";
import { pro, type UnsupportedKeys } from "../../config/unsupported.ts";
import type { Section } from "../../config/section.ts";

declare module "../../config/config.ts" {
  interface ChannelTypes {
    readonly map: true;
  }
  interface ChannelOptions {
    /** Present if the channels are maps (docs/protocol.md 3.4); their streams have the options of a history. */
    readonly map?: MapOptions;
  }
}

/** The options `map` of a namespace whose channels are maps (docs/protocol.md 3.4). */
export interface MapOptions extends Values<typeof clientsOptions>, Values<typeof pageOptions> {
  /**
   * ephemeral: the state is in memory, with a checkpoint while the channel is quiet. recoverable: the state and its
   * stream are stored. persistent: the same, and keys never expire.
   */
  readonly mode: "ephemeral" | "recoverable" | "persistent";
  /** How long what is appended to a value may wait to be durable (rule Z40), ms; 0: it doesn't. */
  readonly appendWindowMs: number;
  /** How long after its last change a key is removed; 0: never. */
  readonly keyTtlMs: number;
  /** The backend that decides on what clients publish (docs/protocol.md 7). */
  readonly publishHook?: HookTarget;
  /** The backend that decides on what clients remove. */
  readonly removeHook?: HookTarget;
}

/** The options about the lifetime of keys. */
export const keyOptions = {
  /**
   * `"ephemeral"`: the values are in memory, and a client that returns gets all of them again; `"recoverable"`: they are
   * stored, and a client that returns gets what it missed; `"persistent"`: the same, and keys never expire. In presence maps
   * and receipts it is `"ephemeral"`.
   *
   * @default required
   */
  mode: { is: "choice", of: ["", "ephemeral", "recoverable", "persistent"] },
  /**
   * How long after its last change a key is removed, from 100 ms on; required unless the map is persistent. In a presence map
   * it is how long a user is shown who is gone, and within which time a crash is noticed: from 10 s to 24 h.
   *
   * @default none
   * @differs from 100 ms on; of presence maps from 10 s to 24 h
   */
  key_ttl: { is: "duration" },
} as const satisfies Options;

/** The stream of a map, which an ephemeral one has not. As in Centrifugo, 0 stands for the default. */
export const mapStreamOptions = {
  /** How many changes are kept for clients that return; an ephemeral map keeps none. */
  stream_size: { is: "whole", default: 0, min: 0, max: limits.historySizeMax, zeroIs: 100 },
  /** For how long after the newest change the stream is kept. */
  stream_ttl: { is: "duration", zeroIs: 60_000 },
  /**
   * How long after the newest change the map's epoch and offset are kept, at least `stream_ttl`; by default ten times
   * `stream_ttl` or `key_ttl`, whichever is longer, and 10 years if the map is persistent.
   *
   * @default by the others
   * @differs permanent is 10 years
   */
  meta_ttl: { is: "duration" },
} as const satisfies Options;

/** The hooks of a map. */
export const mapHookOptions = {
  /** A backend decides on what clients set, and on the keys, so that there is no `client_key` beside it. */
  publish_proxy_enabled: { is: "boolean" },
  /** Which backend: `"default"` for `channel.proxy.map_publish`, or the name of one of `proxies`. */
  publish_proxy_name: { is: "text", default: "default" },
  /** A backend decides on what clients remove, and on the keys, so that there is no `client_key` beside it. */
  remove_proxy_enabled: { is: "boolean" },
  /** Which backend: `"default"` for `channel.proxy.map_remove`, or the name of one of `proxies`. */
  remove_proxy_name: { is: "text", default: "default" },
} as const satisfies Options;

/** How values grow. */
export const growthOptions = {
  /**
   * For how long what `map_append` appends may be shown before it is stored: one change stores all of it; less than
   * `key_ttl`. With `"0s"` each piece is stored before it is shown.
   */
  append_window: {
    is: "duration",
    own: true,
    default: 250,
    max: growthLimits.appendWindowMsMax,
  },
} as const satisfies Options;

/** The permissions of clients in a map. */
export const clientsOptions = {
  /** At the end of its subscription, a client's key is removed: the one that is its connection's ID. */
  remove_client_on_unsubscribe: { is: "boolean" },
  /**
   * The key of what a client publishes or removes: `""` for the one that it names, `"client_id"` for its connection's ID,
   * `"user_id"` for its user's.
   */
  client_key: { is: "choice", of: ["", "client_id", "user_id"] },
  /** Clients may set values. */
  allow_publish_for_client: { is: "boolean" },
  /** Subscribers of the channel may set values. */
  allow_publish_for_subscriber: { is: "boolean" },
  /** Anonymous clients may set values. */
  allow_publish_for_anonymous: { is: "boolean" },
  /** Clients may remove keys. */
  allow_remove_for_client: { is: "boolean" },
  /** Subscribers of the channel may remove keys. */
  allow_remove_for_subscriber: { is: "boolean" },
  /** Anonymous clients may remove keys. */
  allow_remove_for_anonymous: { is: "boolean" },
} as const satisfies Options;

/** The pages in which clients read a map. As in Centrifugo, 0 stands for the default. */
export const pageOptions = {
  /**
   * Entries of a page, where the client names no number.
   *
   * @default `100`
   */
  default_page_size: { is: "whole", default: 0, min: 0, max: mapLimits.mapPageSizeMax },
  /**
   * The fewest entries of a page that a client may choose.
   *
   * @default `100`
   */
  min_page_size: { is: "whole", default: 0, min: 0, max: mapLimits.mapPageSizeMax },
  /**
   * The most entries of a page that a client may choose.
   *
   * @default `1000`
   */
  max_page_size: { is: "whole", default: 0, min: 0, max: mapLimits.mapPageSizeMax },
  /**
   * How many changes a client may have missed when its subscription begins.
   *
   * @default `max_page_size`
   */
  live_transition_max_publication_limit: {
    is: "whole",
    default: 0,
    min: 0,
    max: mapLimits.mapPageSizeMax,
  },
  /** How long a client may take from its first page until its subscription begins. */
  subscribe_catch_up_timeout: { is: "duration", max: mapLimits.mapCatchUpMsMax, zeroIs: 5_000 },
} as const satisfies Options;

/** The stream of a map, which is the history of its channel. */
type StreamOptions = Pick<ChannelOptions, "historySize" | "historyTtlMs" | "historyMetaTtlMs">;

/**
 * Reads `map.*`. As in Centrifugo, 0 stands for the default of a number or of a duration.
 *
 * @param section receives the problems
 */
function readMap(
  section: Section,
  backends: ChannelBackends,
): StreamOptions & { readonly map: MapOptions } {
  const mode = readMode(section);
  const keyTtlMs = readOption(section, "key_ttl", keyOptions.key_ttl);
  const stream = readStream(section, mode, keyTtlMs);
  const publishHook = backends.switched(section, "publish_proxy_", "map_publish");
  const removeHook = backends.switched(section, "remove_proxy_", "map_remove");
  const map: MapOptions = {
    mode,
    appendWindowMs: readAppendWindow(section, keyTtlMs),
    keyTtlMs,
    ...readOptions(section, clientsOptions),
    ...readPages(section),
    ...(publishHook && { publishHook }),
    ...(removeHook && { removeHook }),
  };
  checkKeys(map, section);
  section.refuseOthers(unsupportedMapOptions);
  return { map, ...stream };
}

/** Reads `append_window`, of which 0 is no default. */
function readAppendWindow(section: Section, keyTtlMs: number): number {
  const { append_window: option } = growthOptions;
  const half = keyTtlMs > 0 ? keyTtlMs / 2 : option.default;
  const windowMs = readOption(section, "append_window", {
    ...option,
    default: Math.min(option.default, half),
  });
  const isKnown = section.isValid("append_window") && section.isValid("key_ttl");
  if (isKnown && keyTtlMs > 0 && windowMs >= keyTtlMs)
    section.problem("append_window", "isn't shorter than key_ttl");
  return windowMs;
}

function readMode(section: Section): MapOptions["mode"] {
  const mode = readOption(section, "mode", keyOptions.mode);
  if (mode !== "") return mode;
  if (section.isValid("mode"))
    section.problem("mode", 'is missing: "ephemeral", "recoverable" or "persistent"');
  return "persistent";
}

/** Reads the three options of the stream, which an ephemeral map has not, and checks them against each other. */
function readStream(section: Section, mode: MapOptions["mode"], keyTtlMs: number): StreamOptions {
  if (mode === "ephemeral") {
    const { stream_size: size, stream_ttl: ttl, meta_ttl: metaTtl } = mapStreamOptions;
    const given = readOptions(section, {
      stream_size: { ...size, zeroIs: 0, as: "stream_size" },
      stream_ttl: { ...ttl, zeroIs: 0, as: "stream_ttl" },
      meta_ttl: { ...metaTtl, as: "meta_ttl" },
    });
    for (const [name, value] of Object.entries(given)) {
      if (value > 0) section.problem(name, 'is not for the mode "ephemeral", which has no stream');
    }
    return { historySize: 0, historyTtlMs: 0, historyMetaTtlMs: keyTtlMs };
  }
  const { streamSize, streamTtlMs, metaTtlMs } = readOptions(section, mapStreamOptions);
  const mayCompare = section.isValid("meta_ttl") && section.isValid("stream_ttl");
  if (mayCompare && metaTtlMs > 0 && metaTtlMs < streamTtlMs)
    section.problem("meta_ttl", "is shorter than stream_ttl");
  const metaTtlDefaultMs =
    mode === "persistent" ? longestDurationMs : Math.max(10 * streamTtlMs, keyTtlMs);
  return {
    historySize: streamSize,
    historyTtlMs: streamTtlMs,
    historyMetaTtlMs: Math.min(metaTtlMs === 0 ? metaTtlDefaultMs : metaTtlMs, longestDurationMs),
  };
}

/** Reads how large the pages are in which clients read a map, and how long they may take. */
export function readPages(section: Section): Values<typeof pageOptions> {
  const read = readOptions(section, pageOptions);
  const { defaultPageSize: given, minPageSize: min, maxPageSize: max } = read;
  if (min > 0 && max > 0 && min > max) section.problem("min_page_size", "exceeds max_page_size");
  if (given > 0 && max > 0 && given > max)
    section.problem("default_page_size", "exceeds max_page_size");
  if (given > 0 && given < min) section.problem("default_page_size", "is under min_page_size");
  const maxPageSize = max === 0 ? Math.max(1_000, given, min) : max;
  const minPageSize = min === 0 ? Math.min(100, given || maxPageSize) : min;
  return {
    ...read,
    defaultPageSize: given === 0 ? Math.min(Math.max(100, minPageSize), maxPageSize) : given,
    minPageSize,
    maxPageSize,
    liveTransitionMaxPublicationLimit: read.liveTransitionMaxPublicationLimit || maxPageSize,
  };
}

/** Reports options about keys that contradict each other. */
function checkKeys(
  { mode, keyTtlMs, clientKey, publishHook, removeHook }: MapOptions,
  section: Section,
): void {
  const isKnown = section.isValid("mode") && section.isValid("key_ttl");
  if (isKnown && mode !== "persistent" && keyTtlMs === 0)
    section.problem("key_ttl", `is missing: the mode "${mode}" requires it`);
  if (isKnown && mode === "persistent" && keyTtlMs > 0)
    section.problem("key_ttl", 'is not for the mode "persistent", whose keys never expire');
  if (keyTtlMs > 0 && keyTtlMs < mapLimits.mapKeyTtlMsMin)
    section.problem("key_ttl", `is shorter than ${mapLimits.mapKeyTtlMsMin / 1_000}s`);
  if (clientKey === "") return;
  const hooks = { publish_proxy_enabled: publishHook, remove_proxy_enabled: removeHook };
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook !== undefined)
      section.problem("client_key", `is not for maps with ${name}: the backend sets the keys`);
  }
}

/** `map.*` of a namespace (docs/protocol.md 3.4). */
export const unsupportedMapOptions: UnsupportedKeys = {
  broker_name: pro,
  ordered: { refusal: "is not supported by Dormouse: entries are in the order of their keys" },
};

/** The section of maps in a namespace of another type. */
export const mapsElsewhere: UnsupportedKeys = {
  map: {
    refusal: 'is for namespaces of the subscription_type "map"',
    accepted: { publish_proxy_name: ["default"], remove_proxy_name: ["default"] },
  },
};

/** Maps as a type of channels. */
export const mapType: ChannelType = {
  name: "map",
  section: "map",
  read: (section, beside, backends) => ({
    ...beside,
    ...readMap(section.section("map"), backends),
  }),
  unfit: {
    channels: "maps",
    history: "whose stream has map.stream_size and its like",
    recovery: "which are always recovered",
  },
};

/** The keys of `channel.proxy` that hooks of maps have. */
export const mapHookKeys = ["map_publish", "map_remove"];

/** The backends of one namespace's hooks for maps. */
export function mapHooks({ map }: ChannelOptions): HookTargets {
  return [map?.publishHook, map?.removeHook];
}

/** The options of a map that lets clients do everything (rule A11). */
export function openedMap({ map }: ChannelOptions): Partial<ChannelOptions> {
  if (map === undefined) return {};
  return {
    map: {
      ...map,
      allowPublishForClient: true,
      allowPublishForAnonymous: true,
      allowRemoveForClient: true,
      allowRemoveForAnonymous: true,
    },
  };
}
