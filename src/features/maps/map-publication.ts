import type { GrownChange } from "./growth/map-growth.ts";
import type { MapPublishRequest, MapRemoveRequest } from "./map-call.ts";
import type { KnownKey, MapEntry } from "./map-state.ts";
import type { Changer } from "../../channel/publication-request.ts";
import type { ClientInfo, Publication, StreamPosition } from "../../protocol/publication.ts";
import type { HistoryEntry } from "../../channel/history-table.ts";

/** A change as subscribers get it. The one at offset 1 carries the epoch (docs/protocol.md 2.6). */
export function liveChange(
  { key, data, tags, delta, removed: isRemoval, score, grown }: HistoryEntry,
  info: ClientInfo | undefined,
  { offset, epoch }: StreamPosition,
  before: Publication["before"],
): Publication {
  return {
    data,
    offset,
    ...(offset === 1 ? { epoch } : {}),
    ...(key === undefined ? {} : { key }),
    ...(isRemoval === undefined ? {} : { removed: isRemoval }),
    ...(score === undefined || score === 0 ? {} : { score }),
    ...(info === undefined ? {} : { info }),
    ...(tags === undefined ? {} : { tags }),
    ...(delta ? { mayBePatch: true } : {}),
    ...(before === undefined ? {} : { before }),
    ...(grown === undefined ? {} : { grown }),
  };
}

/**
 * The entry of a key that is set, and the change for the stream.
 *
 * @param known the key before; undefined if the map doesn't know it
 */
export function settingOf(
  request: MapPublishRequest,
  known: KnownKey | undefined,
  { info, nowMs }: Changer,
  mayBePatch: boolean,
): { readonly entry: Omit<MapEntry, "offset">; readonly change: HistoryEntry } {
  const { key, data, streamData, tags, score = 0, idempotencyKey, traceparent } = request;
  const labels = { ...(tags && { tags }), ...(info && { info }) };
  const { version, versionEpoch } = request.version > 0n ? request : (known ?? unversioned);
  const entry = {
    key,
    timeMs: nowMs,
    isRemoved: false,
    isDiverted: streamData !== undefined,
    version,
    versionEpoch,
    score,
    data,
    ...labels,
  };
  const change = {
    key,
    data: streamData ?? data,
    score,
    idempotencyKey,
    delta: mayBePatch,
    ...unversioned,
    ...labels,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return { entry, change };
}

/** The change for the stream by which a value has grown. */
export function grownChange(
  { key, data, score, tags, info }: Omit<MapEntry, "offset">,
  change: Omit<GrownChange, "entry">,
): HistoryEntry {
  const labels = { ...(tags && { tags }), ...(info && { info }) };
  return { key, data, score, ...labels, ...change, ...unversioned, delta: true };
}

/** The change for the stream by which a key is removed. */
export function removalChange(
  { key, tags, idempotencyKey, traceparent }: MapRemoveRequest,
  known: KnownKey | undefined,
  info: ClientInfo | undefined,
): HistoryEntry {
  const own = tags ?? known?.tags;
  return {
    data: nothing,
    removed: true,
    delta: false,
    ...unversioned,
    key,
    idempotencyKey,
    ...(own === undefined ? {} : { tags: own }),
    ...(info === undefined ? {} : { info }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** What stays of a key that is removed, because of its version (rule Z8). */
export function removedEntry(
  { key, version, versionEpoch }: KnownKey,
  nowMs: number,
): Omit<MapEntry, "offset"> {
  const gone = { isRemoved: true, isDiverted: false, score: 0, data: nothing } as const;
  return { ...gone, key, timeMs: nowMs, version, versionEpoch };
}

/** The versions of a map are those of its keys, and not of its stream. */
const unversioned = { version: 0n, versionEpoch: "" } as const;
const nothing = new Uint8Array(0);

/** An entry of the state as clients get it. */
export function publicationOf({ key, data, offset, tags, info, score }: MapEntry): Publication {
  return {
    key,
    data,
    offset,
    ...(tags === undefined ? {} : { tags }),
    ...(info === undefined ? {} : { info }),
    ...(score === 0 ? {} : { score }),
  };
}
