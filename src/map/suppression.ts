import type { MapChange, MapSuppression } from "../contract/map-call.ts";
import type { KnownKey } from "./map-state.ts";

/**
 * Why a change does nothing, apart from a repeated idempotency key, which comes first (rule Z7): the version, then the
 * key mode, then the offset that the key must have.
 *
 * @param known what the map knows of the key, also if it was removed
 * @returns undefined if the change is to be made
 */
export function suppressionOf(
  change: MapChange,
  known: KnownKey | undefined,
): Exclude<MapSuppression, "idempotency"> | undefined {
  const isThere = known?.isRemoved === false;
  if (change.method === "map_publish") {
    const { version, versionEpoch, keyMode } = change.request;
    const isOlder = known !== undefined && known.version > 0n && version <= known.version;
    if (version > 0n && isOlder && versionEpoch === known.versionEpoch) return "version";
    if (keyMode === "if_new" && isThere) return "key_exists";
    if (keyMode === "if_exists" && !isThere) return "key_not_found";
  } else if (!isThere) return "key_not_found";
  const { ifOffset } = change.request;
  if (ifOffset === undefined) return undefined;
  return ifOffset === (isThere ? known.offset : 0) ? undefined : "position_mismatch";
}
