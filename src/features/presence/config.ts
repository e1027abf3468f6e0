import type { ChannelConfig, ChannelOptions } from "../../config/config.ts";
import { readText } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { ChannelType } from "../../config/channel-features.ts";
import type { PresenceKind } from "../../contract/relay-request.ts";
import type { Section } from "../../config/section.ts";
import { readMirror, unfitForMirrors } from "../maps/mirror/config.ts";
import { checkMirrorPrefixes, type MirrorPrefix } from "../maps/mirror/mirror-name.ts";

declare module "../../config/config.ts" {
  interface ChannelTypes {
    readonly map_clients: true;
    readonly map_users: true;
  }
  interface ChannelOptions {
    /**
     * The prefixes that make a channel's name that of its presence map, by what the keys of the map are (rule Z36);
     * absent if the channels have none.
     */
    readonly presenceMaps?: PresencePrefixes;
  }
}

/** None of them is empty; absent where there is no such map. */
type PresencePrefixes = { readonly [Kind in PresenceKind]?: string };

/** The names of presence maps, by what their keys are. */
export const presencePrefixes = {
  clients: {
    option: "map_clients_presence_channel_prefix",
    type: "map_clients",
    of: ({ presenceMaps }) => presenceMaps?.clients,
  },
  users: {
    option: "map_users_presence_channel_prefix",
    type: "map_users",
    of: ({ presenceMaps }) => presenceMaps?.users,
  },
} as const satisfies Readonly<Record<PresenceKind, MirrorPrefix>>;

/** The prefixes, as a namespace has them. */
export const presenceOptions = {
  /**
   * With `"clients:"`, the clients that are subscribed to `room:7` are the keys of the
   * [presence map](maps.md#who-is-there) `clients:room:7`; the prefix has to lead to a namespace of the type
   * `"map_clients"`.
   *
   * @differs the prefix has to lead to a namespace of the right type
   */
  map_clients_presence_channel_prefix: { is: "text" },
  /**
   * The same with the users that are subscribed; the prefix has to lead to a namespace of the type `"map_users"`.
   *
   * @differs the prefix has to lead to a namespace of the right type
   */
  map_users_presence_channel_prefix: { is: "text" },
} as const satisfies Options;

/** Reads the prefixes of a namespace whose channels aren't presence maps themselves; none if there are none. */
export function readPresencePrefixes(section: Section): Prefixes {
  const given = kinds.flatMap((kind) => {
    const prefix = readText(section, presencePrefixes[kind].option);
    return prefix === "" ? [] : [[kind, prefix] as const];
  });
  return given.length === 0 ? {} : { presenceMaps: Object.fromEntries(given) };
}

type Prefixes = { readonly presenceMaps?: PresencePrefixes };

/** Reports prefixes that name no presence map, or not only one (rule Z36). */
export function checkPresencePrefixes(
  sections: ReadonlyMap<string, Section>,
  channel: ChannelConfig,
): void {
  const prefixes = kinds.map((kind) => presencePrefixes[kind]);
  checkMirrorPrefixes(sections, channel, prefixes, "presence map");
}

const kinds = ["clients", "users"] as const;

/** Reads a namespace of presence maps. They have none themselves: nobody's subscription to those is shown. */
function readPresenceMap(
  namespace: Section,
  { presenceMaps = {} }: Prefixes,
  kind: PresenceKind,
): Partial<ChannelOptions> {
  for (const one of kinds)
    if (presenceMaps[one] !== undefined)
      namespace.problem(presencePrefixes[one].option, "is not for presence maps themselves");
  return readMirror(namespace, presencePrefixes[kind].type, "presence maps");
}

/** Presence maps as types of channels. */
export const presenceTypes: readonly ChannelType[] = [
  {
    name: "map_clients",
    section: "map",
    read: (section, beside) => readPresenceMap(section, beside, "clients"),
    unfit: { channels: "presence maps", ...unfitForMirrors },
  },
  {
    name: "map_users",
    section: "map",
    read: (section, beside) => readPresenceMap(section, beside, "users"),
    unfit: { channels: "presence maps", ...unfitForMirrors },
  },
];
