import type { KeyedStream } from "../../channel/keyed-stream.ts";
import type { ChannelOptions } from "../../config/config.ts";
import { limits } from "../../limits.ts";
import { mapLimits } from "./limits.ts";
import { ChannelMap } from "./channel-map.ts";
import { mapStoreOf } from "./map-store.ts";

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
