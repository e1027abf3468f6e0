import type { ChannelType } from "../../../config/channel-features.ts";
import type { ChannelConfig, ChannelOptions } from "../../../config/config.ts";
import type { Section } from "../../../config/section.ts";
import { readMirror, unfitForMirrors } from "../../maps/mirror/config.ts";
import { checkMirrorPrefixes, type MirrorPrefix } from "../../maps/mirror/mirror-name.ts";

declare module "../../../config/config.ts" {
  interface ChannelTypes {
    readonly map_receipts: true;
  }
}

/** The names of receipts: the prefix stands in the options of the channels that they show (rule CU36). */
export const receiptsPrefix: MirrorPrefix = {
  option: "cursors.receipts_channel_prefix",
  type: "map_receipts",
  of: ({ cursors }) => cursors?.receiptsPrefix,
};

/** Receipts as a type of channels. */
export const receiptsType: ChannelType = {
  name: "map_receipts",
  section: "map",
  read: (section, { presenceMaps }) => {
    if (presenceMaps !== undefined)
      section.problem("subscription_type", '"map_receipts" has no presence maps');
    return readMirror(section, "map_receipts", "receipts");
  },
  unfit: { channels: "receipts", ...unfitForMirrors },
};

/** The options `cursors` with receipts that all clients may see who may publish (rule A11). */
export function openedReceipts({ cursors }: ChannelOptions): Partial<ChannelOptions> {
  return cursors === undefined ? {} : { cursors: { ...cursors, receipts: "publisher" } };
}

/**
 * Reports prefixes that name no receipts, or not only one, and receipts of whom it isn't known who may see them.
 *
 * @param sections of the namespaces, by their names; "" for channels without one
 */
export function checkReceipts(
  sections: ReadonlyMap<string, Section>,
  channel: ChannelConfig,
): void {
  checkMirrorPrefixes(sections, channel, [receiptsPrefix], "namespace's receipts");
  for (const [name, section] of sections) {
    const options = name === "" ? channel.withoutNamespace : channel.namespaces.get(name);
    if (options?.cursors?.receipts === "publisher" && options.publishHook !== undefined)
      section.problem(
        "cursors.receipts",
        '"publisher" is not for publish_proxy_enabled: a backend decides on each publication',
      );
  }
}
