import type { ChannelPart } from "../../channel/channel-part.ts";
import type { Feature } from "../feature.ts";
import { presenceCallers, presenceCalls } from "./calls.ts";
import { presenceMapsOf, shownChannelOf } from "./presence-channels.ts";
import { PresenceDriver, PresenceMapDriver } from "./presence-driver.ts";
import { PresenceMap } from "./presence-map.ts";
import { PresenceTeller } from "./presence-teller.ts";
import { mapOf } from "../maps/map-operations.ts";
import { shownSubscriptions } from "./subscriptions.ts";

/** Presence maps: maps whose keys are the subscribers of another channel. */
export const presence = {
  channelCalls: presenceCalls,
  callers: presenceCallers,
  ofChannel: (channel, { nowMs }, config) => {
    const { name, options } = channel;
    const parts: ChannelPart[] = [];
    const map = mapOf(channel);
    const shown = map && shownChannelOf(name, config.channel);
    const keyTtlMs = options.map?.keyTtlMs ?? 0;
    const isHeld = (): boolean => channel.isHeld;
    if (map && shown) parts.push(new PresenceMap(map, { shown, isHeld, keyTtlMs, nowMs }));
    const maps = presenceMapsOf(name, config.channel);
    if (maps.length > 0) parts.push(new PresenceTeller(name, maps));
    return parts;
  },
  ofChannelObject: (object) => {
    const { parts } = object.channel;
    const map = parts.find((part) => part instanceof PresenceMap);
    const teller = parts.find((part) => part instanceof PresenceTeller);
    if (map !== undefined) return [new PresenceMapDriver(object, map), shownSubscriptions];
    return teller === undefined ? [] : [new PresenceDriver(object, teller), shownSubscriptions];
  },
  ofGateway: () => [shownSubscriptions],
} as const satisfies Feature;
