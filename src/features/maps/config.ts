import { mapLimits } from "./limits.ts";
import { growthLimits } from "./growth/limits.ts";
import { limits } from "../../limits.ts";
import type { ChannelOptions, HookTarget } from "../../config/config.ts";
import {
  longestDurationMs,
  readBoolean,
  readChoice,
  readDurationMs,
  readWholeNumber,
} from "../../config/fields.ts";
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
export interface MapOptions {
  /**
   * ephemeral: the state is in memory, with a checkpoint while the channel is quiet. recoverable: the state and its
   * stream are stored. persistent: the same, and keys never expire.
   */
  readonly mode: "ephemeral" | "recoverable" | "persistent";
  /** How long what is appended to a value may wait to be durable (rule Z40), ms; 0: it doesn't. */
  readonly appendWindowMs: number;
  /** How long after its last change a key is removed; 0: never. */
  readonly keyTtlMs: number;
  /** A client's entry, whose key is the client's ID, is removed at the end of its subscription. */
  readonly removeClientOnUnsubscribe: boolean;
  /** The key that a client sets and removes: the one that it names, its own ID, or the ID of its user. */
  readonly clientKey: "" | "client_id" | "user_id";
  readonly allowPublishForClient: boolean;
  readonly allowPublishForSubscriber: boolean;
  readonly allowPublishForAnonymous: boolean;
  readonly allowRemoveForClient: boolean;
  readonly allowRemoveForSubscriber: boolean;
  readonly allowRemoveForAnonymous: boolean;
  /** Entries of a page, where the client names no number; and between which bounds it may choose one. */
  readonly defaultPageSize: number;
  readonly minPageSize: number;
  readonly maxPageSize: number;
  /** The most changes that a client may have missed when its subscription begins. */
  readonly liveTransitionMaxPublicationLimit: number;
  /** How long a client may take from its first page to the beginning of its subscription. */
  readonly subscribeCatchUpTimeoutMs: number;
  /** The backend that decides on what clients publish (docs/protocol.md 7). */
  readonly publishHook?: HookTarget;
  /** The backend that decides on what clients remove. */
  readonly removeHook?: HookTarget;
}

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
  const keyTtlMs = readDurationMs(section, "key_ttl", { defaultMs: 0 });
  const stream = readStream(section, mode, keyTtlMs);
  const publishHook = backends.switched(section, "publish_proxy_", "map_publish");
  const removeHook = backends.switched(section, "remove_proxy_", "map_remove");
  const map: MapOptions = {
    mode,
    appendWindowMs: readAppendWindow(section, keyTtlMs),
    keyTtlMs,
    removeClientOnUnsubscribe: readBoolean(section, "remove_client_on_unsubscribe"),
    clientKey: readChoice(section, "client_key", { choices: ["", "client_id", "user_id"] }),
    allowPublishForClient: readBoolean(section, "allow_publish_for_client"),
    allowPublishForSubscriber: readBoolean(section, "allow_publish_for_subscriber"),
    allowPublishForAnonymous: readBoolean(section, "allow_publish_for_anonymous"),
    allowRemoveForClient: readBoolean(section, "allow_remove_for_client"),
    allowRemoveForSubscriber: readBoolean(section, "allow_remove_for_subscriber"),
    allowRemoveForAnonymous: readBoolean(section, "allow_remove_for_anonymous"),
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
  const windowMs = readDurationMs(section, "append_window", {
    defaultMs: keyTtlMs > 0 ? Math.min(appendWindowDefaultMs, keyTtlMs / 2) : appendWindowDefaultMs,
    maxMs: growthLimits.appendWindowMsMax,
  });
  const isKnown = section.isValid("append_window") && section.isValid("key_ttl");
  if (isKnown && keyTtlMs > 0 && windowMs >= keyTtlMs)
    section.problem("append_window", "isn't shorter than key_ttl");
  return windowMs;
}

function readMode(section: Section): MapOptions["mode"] {
  const mode = readChoice(section, "mode", {
    choices: ["", "ephemeral", "recoverable", "persistent"],
  });
  if (mode !== "") return mode;
  if (section.isValid("mode"))
    section.problem("mode", 'is missing: "ephemeral", "recoverable" or "persistent"');
  return "persistent";
}

/** Reads the three options of the stream, which an ephemeral map has not, and checks them against each other. */
function readStream(section: Section, mode: MapOptions["mode"], keyTtlMs: number): StreamOptions {
  const size = readWholeNumber(section, "stream_size", {
    default: 0,
    min: 0,
    max: limits.historySizeMax,
  });
  const ttlMs = readDurationMs(section, "stream_ttl", { defaultMs: 0 });
  const metaTtlMs = readDurationMs(section, "meta_ttl", { defaultMs: 0 });
  if (mode === "ephemeral") {
    const given = { stream_size: size, stream_ttl: ttlMs, meta_ttl: metaTtlMs };
    for (const [name, value] of Object.entries(given)) {
      if (value > 0) section.problem(name, 'is not for the mode "ephemeral", which has no stream');
    }
    return { historySize: 0, historyTtlMs: 0, historyMetaTtlMs: keyTtlMs };
  }
  const streamTtlMs = ttlMs === 0 ? streamTtlDefaultMs : ttlMs;
  const mayCompare = section.isValid("meta_ttl") && section.isValid("stream_ttl");
  if (mayCompare && metaTtlMs > 0 && metaTtlMs < streamTtlMs)
    section.problem("meta_ttl", "is shorter than stream_ttl");
  const metaTtlDefaultMs =
    mode === "persistent" ? longestDurationMs : Math.max(10 * streamTtlMs, keyTtlMs);
  return {
    historySize: size === 0 ? streamSizeDefault : size,
    historyTtlMs: streamTtlMs,
    historyMetaTtlMs: Math.min(metaTtlMs === 0 ? metaTtlDefaultMs : metaTtlMs, longestDurationMs),
  };
}

/** Reads how large the pages are in which clients read a map, and how long they may take. */
export function readPages(
  section: Section,
): Pick<
  MapOptions,
  | "defaultPageSize"
  | "minPageSize"
  | "maxPageSize"
  | "liveTransitionMaxPublicationLimit"
  | "subscribeCatchUpTimeoutMs"
> {
  const rule = { default: 0, min: 0, max: mapLimits.mapPageSizeMax };
  const given = readWholeNumber(section, "default_page_size", rule);
  const [min, max] = [
    readWholeNumber(section, "min_page_size", rule),
    readWholeNumber(section, "max_page_size", rule),
  ];
  const limit = readWholeNumber(section, "live_transition_max_publication_limit", rule);
  if (min > 0 && max > 0 && min > max) section.problem("min_page_size", "exceeds max_page_size");
  if (given > 0 && max > 0 && given > max)
    section.problem("default_page_size", "exceeds max_page_size");
  if (given > 0 && given < min) section.problem("default_page_size", "is under min_page_size");
  const timeoutMs = readDurationMs(section, "subscribe_catch_up_timeout", {
    defaultMs: 0,
    maxMs: mapLimits.mapCatchUpMsMax,
  });
  const maxPageSize = max === 0 ? Math.max(1_000, given, min) : max;
  const minPageSize = min === 0 ? Math.min(100, given || maxPageSize) : min;
  return {
    defaultPageSize: given === 0 ? Math.min(Math.max(100, minPageSize), maxPageSize) : given,
    minPageSize,
    maxPageSize,
    liveTransitionMaxPublicationLimit: limit === 0 ? maxPageSize : limit,
    subscribeCatchUpTimeoutMs: timeoutMs === 0 ? catchUpDefaultMs : timeoutMs,
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

const appendWindowDefaultMs = 250;
const streamSizeDefault = 100;
const streamTtlDefaultMs = 60_000;
const catchUpDefaultMs = 5_000;

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
