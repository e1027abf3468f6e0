import type { KeyedStream } from "../../channel/keyed-stream.ts";
import type { ChannelOptions } from "../../config/config.ts";
import { limits } from "../../limits.ts";
import { mapLimits } from "./limits.ts";
import { ChannelMap } from "./channel-map.ts";
import { mapStoreOf } from "./map-store.ts";
import type { Feature } from "../feature.ts";
import { mapSubscriptions, keyEnds } from "./map-commands.ts";
import { mapMethods, mapOperations } from "./methods.ts";
import { MapPart, mapOf, noMap } from "./map-operations.ts";
import { appendMethodsOf } from "./growth/client-method.ts";
import { PageReads } from "./page-reads.ts";
import { NextTimer } from "../../object/alarm-schedule.ts";
import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";

const storedMapTables = ["map_change", "map_state", "map_due", "map_window", "spared_key"] as const;

/**
 * The streams of maps. The changes of an ephemeral map and its keys are in memory, those of any other map in rows.
 *
 * @returns undefined for channels that are no maps
 */
export function mapStreamOf(options: ChannelOptions): KeyedStream | undefined {
  const { map, historySize: size, historyTtlMs: ttlMs, historyMetaTtlMs: metaTtlMs } = options;
  if (map === undefined) return undefined;
  const isEphemeral = map.mode === "ephemeral";
  const ephemeral = {
    size: mapLimits.ephemeralStreamSize,
    ttlMs: mapLimits.ephemeralStreamMs,
    metaTtlMs: mapLimits.ephemeralMetaMs,
  };
  const max = map.liveTransitionMaxPublicationLimit;
  return {
    history: { ...(isEphemeral ? ephemeral : { size, ttlMs, metaTtlMs }), isKeyed: true },
    // A client that synchronised a map may have missed as many changes as are kept.
    recoveryLimit: (max === 0 ? limits.historySizeMax : max) + 1,
    hidesOffsets: isEphemeral,
    tables: isEphemeral ? ["map_checkpoint", "spared_key"] : storedMapTables,
    open: (sql, tables) => {
      const store = mapStoreOf(map, sql, tables);
      return { memory: store.memory, begin: (setup) => new ChannelMap(options, store, setup) };
    },
  };
}

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
