import type { MapEntry } from "../../../../src/features/maps/map-state.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";

/** An entry of a map with the value 1, except for the fields that a test names. */
export function mapEntry(key: string, more: Partial<MapEntry> = {}): MapEntry {
  return {
    key,
    offset: 3,
    timeMs: 4,
    isRemoved: false,
    isDiverted: false,
    version: 0n,
    versionEpoch: "",
    score: 0,
    data: trustedJsonText("1"),
    ...more,
  };
}
