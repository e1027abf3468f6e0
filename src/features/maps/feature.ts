import type { Feature } from "../feature.ts";
import { mapSubscriptions } from "./subscription-type.ts";
import { mapMethods, mapOperations } from "./methods.ts";
import { MapPart, mapOf, noMap } from "./map-operations.ts";
import { mapStreamOf } from "./map-stream.ts";
import { PageReads } from "./page-reads.ts";
import { keyEnds } from "./map-commands.ts";
import { MapDriver } from "./map-driver.ts";

/** Maps: channels with keys and values. */
export const maps = {
  operations: mapOperations,
  methods: mapMethods,
  subscriptionTypes: {
    map: mapSubscriptions,
    map_clients: mapSubscriptions,
    map_users: mapSubscriptions,
  },
  keyedStreamOf: mapStreamOf,
  ofChannel: (channel) => {
    const map = mapOf(channel);
    return [map === undefined ? noMap : new MapPart(map)];
  },
  ofChannelObject: (object) => {
    const map = mapOf(object.channel);
    return map === undefined ? [] : [new MapDriver(map, object), keyEnds];
  },
  ofGateway: (object) => [new PageReads((...request) => object.gateway.ask(...request)), keyEnds],
} as const satisfies Feature;
