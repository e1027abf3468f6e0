import { limits } from "../../limits.ts";
import type { Feature } from "../feature.ts";
import { mapSubscriptions } from "./subscription-type.ts";
import { mapMethods, mapOperations } from "./methods.ts";
import { MapPart, mapOf, noMap } from "./map-operations.ts";
import { appendMethodsOf } from "./growth/client-method.ts";
import { mapStreamOf } from "./map-stream.ts";
import { PageReads } from "./page-reads.ts";
import { keyEnds } from "./map-commands.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import type { ChannelMap } from "./channel-map.ts";

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
  ofObject: ({ config }) => {
    const clientMethods = appendMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
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

/** Ends the keys of a map and the windows of its values when they are due, and writes an ephemeral map down once it is quiet (rules Z6 and Z11). */
class MapDriver implements ObjectPart {
  readonly #map: ChannelMap;
  readonly #restTimer: NextTimer;
  readonly #windowTimer: NextTimer;

  constructor(map: ChannelMap, { platform, endEvent }: PartedChannelObject) {
    this.#map = map;
    this.#restTimer = new NextTimer(platform, (nowMs) => {
      map.rest(nowMs);
      endEvent(nowMs);
    });
    this.#windowTimer = new NextTimer(platform, (nowMs) => {
      map.growth.endWindows(nowMs);
      endEvent(nowMs);
    });
  }

  settle(nowMs: number): void {
    this.#restTimer.set(this.#map.restInMs(nowMs), nowMs);
    this.#windowTimer.set(this.#map.growth.endsInMs(nowMs), nowMs);
  }

  /** While subscribers were told what isn't durable, an alarm covers a crash (rule Z41). */
  dueAtMs(nowMs: number): number {
    const { isTelling } = this.#map.growth;
    return isTelling ? nowMs + limits.crashAlarmMs : Number.POSITIVE_INFINITY;
  }

  ring(nowMs: number): void {
    this.#map.expire(nowMs);
  }
}
