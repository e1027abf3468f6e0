import { payloadText } from "../../protocol/payload.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import type { ChannelKeys } from "../../channel/keyed-stream.ts";
import type { Changer } from "../../channel/publication-request.ts";
import type { ChannelMap } from "../maps/channel-map.ts";
import { mapLimits } from "../maps/limits.ts";
import { plainMapPublish } from "../maps/map-call.ts";
import type { ChannelKeyStore, KeyChanges } from "./key-table.ts";

/**
 * The keys of a channel that is a map; undefined for any other one. The class isn't asked for, because a build may leave out maps
 * (rule OW9).
 */
export function mapIn(keys: ChannelKeys | undefined): ChannelMap | undefined {
  return keys !== undefined && isMap(keys) ? keys : undefined;
}

function isMap(keys: ChannelKeys): keys is ChannelMap {
  return "isVain" in keys;
}

/**
 * The keys of a channel that is a map, as its code reads and writes them: each change is a publication, which the subscribers of
 * the map get as any other.
 */
export class MapKeys implements ChannelKeyStore {
  readonly #map: ChannelMap;
  /** Whether subscribers with deltas get changes as such. */
  readonly #delta: boolean;

  constructor(map: ChannelMap, delta: boolean) {
    this.#map = map;
    this.#delta = delta;
  }

  begin(nowMs: number): void {
    this.#map.expire(nowMs);
  }

  read(key: string): JsonText | undefined {
    const entry = this.#map.entry(key);
    if (entry === undefined) return undefined;
    const text = payloadText(entry.data);
    if (text === undefined) throw new TypeError("the value of the key isn't JSON");
    return text;
  }

  after(key: string, count: number): readonly string[] {
    return this.#map.keysAfter(key, count);
  }

  get isEmpty(): boolean {
    return this.#map.isEmpty;
  }

  size(nowMs: number): { readonly keys: number; readonly bytes: undefined } {
    return { keys: this.#map.keys(nowMs), bytes: undefined };
  }

  refuse(changes: KeyChanges, nowMs: number): string | undefined {
    let keys = this.#map.keys(nowMs);
    for (const [key, value] of changes) {
      if (this.#map.growth.end(key, nowMs) !== undefined) return "a value of the map is growing";
      const isThere = this.#map.entry(key) !== undefined;
      if (isThere !== (value !== undefined)) keys += isThere ? -1 : 1;
    }
    const { mapKeysMax } = mapLimits;
    return keys > mapKeysMax ? `a map has at most ${mapKeysMax} keys` : undefined;
  }

  write(changes: KeyChanges, nowMs: number): void {
    const by: Changer = { info: undefined, apiKey: "", nowMs };
    for (const [key, value] of changes) {
      const request =
        value === undefined
          ? ({ method: "map_remove", request: { key, idempotencyKey: "" } } as const)
          : ({
              method: "map_publish",
              request: { ...plainMapPublish(key, value), delta: this.#delta },
            } as const);
      const { outcome } = this.#map.change(request, by.info, nowMs);
      if (outcome !== "changed") throw new Error(`a key of a map couldn't be changed: ${outcome}`);
    }
  }

  dropped(): void {
    // The map knows it.
  }
}
