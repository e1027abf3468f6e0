import type { AddedChannelCalls } from "../../contract/object-calls.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type { AddedCalls, PartedChannelObject, ObjectPart } from "../../object/part.ts";
import type { MirrorToldReply } from "../maps/mirror/mirror-map.ts";
import { type PresenceTold, PresenceTeller } from "./presence-teller.ts";
import { PresenceMapDriver, PresenceDriver } from "./presence-driver.ts";
import type { ChannelPart } from "../../channel/channel-part.ts";
import type { Feature } from "../feature.ts";
import { presenceMapsOf, shownChannelOf } from "./presence-channels.ts";
import { PresenceMap } from "./presence-map.ts";
import { mapOf } from "../maps/map-operations.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedChannelCalls {
    /** Takes who came and went on a channel, where this one is its presence map (rule Z27). */
    presenceTold(told: PresenceTold): Promise<MirrorToldReply>;
  }
}

type PresenceCalls = Pick<AddedChannelCalls, "presenceTold">;

/** Makes the call. */
export const presenceCallers: { readonly presenceTold: MakeCall<"presenceTold"> } = {
  presenceTold: (objects, to, request) =>
    objects.channel(to, (object) => object.presenceTold(...request)),
};

/** The call with which a channel's object tells the object of its presence map. */
export const presenceCalls: AddedCalls<PresenceCalls, PartedChannelObject> = {
  presenceTold: {
    answer(object, [told], done) {
      object.happened("presence");
      const driver = object.part(PresenceMapDriver);
      if (driver === undefined) done({ outcome: "left" });
      else driver.told(told, done);
    },
  },
};

/** The subscriptions of an object, as the presence maps of their channels need them. */
export const shownSubscriptions: ObjectPart = {
  entryOfBegin: ({ hidden, info }, { presenceMaps }) =>
    hidden || presenceMaps === undefined ? undefined : { type: "here", info },
  entryOfEnd: ({ begun, hidden, info }, { presenceMaps }) =>
    !begun || hidden || presenceMaps === undefined ? undefined : { type: "away", info },
  // A presence map is counted for as long as it has subscribers (rule Z22).
  awaitsEnd: ({ subscriptionType: type }) => type === "map_clients" || type === "map_users",
};

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
