import type { MapOptions } from "../../src/features/maps/config.ts";
import type { Channel } from "../../src/channel/channel.ts";
import type { ChannelMap } from "../../src/features/maps/channel-map.ts";
import { mapOf } from "../../src/features/maps/map-operations.ts";
import type { MapChangeOutcome } from "../../src/features/maps/map-outcomes.ts";
import {
  type MapPublishRequest,
  type MapRemoveRequest,
  plainMapPublish,
} from "../../src/features/maps/map-call.ts";
import { parseJsonText } from "../../src/protocol/json/text.ts";
import type { Sql } from "../../src/sql.ts";
import { mapDefaults } from "../support/map-defaults.ts";
import { textOf } from "../support/text-of.ts";
import { openChannel, type Opening } from "./open-channel.ts";

/** A map whose keys never expire, with a stream of 100 changes for a minute. */
const defaults: MapOptions = {
  mode: "persistent",
  keyTtlMs: 0,
  ...mapDefaults,
};

/** A channel that is a map, with its keys. */
export interface OpenedMap {
  readonly channel: Channel;
  readonly map: ChannelMap;
}

/** Opens a map on a storage that may hold the state of an earlier one. */
export function openMap(
  sql: Sql,
  options: Partial<MapOptions> = {},
  opening: Opening = {},
): OpenedMap {
  const channel = openChannel(sql, {
    ...opening,
    options: {
      subscriptionType: "map",
      map: { ...defaults, ...options },
      historySize: 100,
      historyTtlMs: 60_000,
      historyMetaTtlMs: 3_600_000,
      ...opening.options,
    },
  });
  const map = mapOf(channel);
  if (map === undefined) throw new Error("the channel is no map");
  return { channel, map };
}

/** Sets a key to a number. */
export function set(
  map: ChannelMap,
  key: string,
  value: number,
  more: Partial<MapPublishRequest> & { readonly nowMs?: number } = {},
): MapChangeOutcome {
  const { nowMs = 0, ...fields } = more;
  const data = parseJsonText(String(value));
  if (data === undefined) throw new Error("not JSON");
  const request = { ...plainMapPublish(key, data), ...fields };
  return map.change({ method: "map_publish", request }, undefined, nowMs);
}

/** Removes a key. */
export function unset(
  map: ChannelMap,
  key: string,
  more: Partial<MapRemoveRequest> & { readonly nowMs?: number } = {},
): MapChangeOutcome {
  const { nowMs = 0, ...fields } = more;
  const request = { key, idempotencyKey: "", ...fields };
  return map.change({ method: "map_remove", request }, undefined, nowMs);
}

/** The whole state, by key, read in pages of so many entries. */
export function stateOf(map: ChannelMap, nowMs = 0, limit = 1_000): Record<string, string> {
  const state: Record<string, string> = {};
  let cursor = "";
  do {
    const page = map.page({ cursor, limit }, nowMs, 1_000_000);
    if (page.outcome !== "map_state") throw new Error("the page can't be read");
    for (const { key, data } of page.publications) {
      if (key === undefined || key in state) throw new Error(`${key} is read twice`);
      state[key] = textOf(data);
    }
    ({ cursor } = page);
  } while (cursor !== "");
  return state;
}

/** The changes in the stream, oldest first: `key=value`, or `-key` for a removal. */
export function changesOf(channel: Channel, nowMs = 0): string[] {
  const read = channel.readStream({ limit: -1, reverse: false }, nowMs);
  if (read.outcome !== "history") throw new Error(`the stream is ${read.outcome}`);
  return read.publications.map(({ key, data, removed }) =>
    removed === true ? `-${key}` : `${key}=${textOf(data)}`,
  );
}
