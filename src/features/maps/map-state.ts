import type { MapChange, MapSuppression } from "./map-call.ts";
import type { PublicationColumns } from "../../protocol/publication-columns.ts";
import type { StreamPosition, Tags } from "../../protocol/publication.ts";

/**
 * The keys of one map and their values: the port behind which they lie in rows ({@link StateTable}) or, for an ephemeral
 * map, in memory ({@link StateMemory}). `ChannelMap` decides what is written. A removed key may stay for a while without
 * its value, because of its version (rule Z8).
 */
export interface MapState {
  /** Finds a key, without its value; undefined if the map doesn't know the key. */
  known(key: string): KnownKey | undefined;
  /** A key with its value; undefined if the map hasn't the key. */
  read(key: string): MapEntry | undefined;
  /** Sets a key, or notes that it was removed: one row written. */
  write(entry: MapEntry): void;
  /** Forgets a key: one row written. */
  delete(key: string): void;
  /** The first keys after a key, in their order; "" for the first of all. Their values aren't read. */
  heads(after: string, count: number): readonly KeyHead[];
  /**
   * The keys after a key, up to and including another one, with their values and in their order: those that the map has
   * and that weren't changed after an offset.
   */
  entries(after: string, until: string, offsetMax: number): readonly MapEntry[];
  /** Counts the keys and the removed ones: it looks at all of them. */
  count(): KeyCounts;
  /** Whether no key is known. */
  readonly isEmpty: boolean;
  /** Forgets all keys. */
  clear(): void;
  /** The time that was noted last, see {@link noteDue}; undefined if none is. */
  readonly dueMs: number | undefined;
  /**
   * Notes that no key ends before this time, ms since 1970, so that a waking object needn't look; undefined: none ends.
   */
  noteDue(dueMs: number | undefined): void;
}

/** The properties of a key that decide whether it is on a page. */
export interface KeyHead {
  readonly key: string;
  /** Of the last change. */
  readonly offset: number;
  /** When the last change came, ms since 1970. */
  readonly timeMs: number;
  readonly isRemoved: boolean;
  /** When the key ends, ms since 1970, whatever its age: of a presence map only. Absent: it ends with its age. */
  readonly endsMs?: number;
  /** The bytes of the value, with tags and info. */
  readonly bytes: number;
}

/** A key without its value. */
export interface KnownKey extends Omit<KeyHead, "bytes"> {
  /** The newest version that the key was set with; 0n if it never had one. */
  readonly version: bigint;
  readonly versionEpoch: string;
  readonly tags?: Tags;
  /** Whether subscribers were sent other data than the value. */
  readonly isDiverted: boolean;
  /** The value has grown to its end (rule Z38). */
  readonly isFinal?: true;
}

/** A key with its value; the value of a removed key is empty. */
export interface MapEntry extends KnownKey, PublicationColumns {
  /** 0 if none was given. */
  readonly score: number;
}

/** How many keys a map knows. */
export interface KeyCounts {
  readonly keys: number;
  readonly removed: number;
}

/** Counts the keys of a map: all of them when it is first asked, and then each change. */
export class KeyCounter {
  readonly #keys: { readonly state: MapState };
  /** Undefined until somebody needs it: counting looks at all keys. */
  #counts: KeyCounts | undefined;

  /** @param keys whose state is asked for only when something is to be counted */
  constructor(keys: { readonly state: MapState }) {
    this.#keys = keys;
  }

  get counts(): KeyCounts {
    this.#counts ??= this.#keys.state.count();
    return this.#counts;
  }

  /** A key was changed. @param before undefined if the map didn't know it; likewise `after` */
  changed(
    before: Pick<KnownKey, "isRemoved"> | undefined,
    after: Pick<KnownKey, "isRemoved"> | undefined,
  ): void {
    if (this.#counts === undefined) return;
    const { keys, removed } = this.#counts;
    this.#counts = {
      keys: keys + Number(after?.isRemoved === false) - Number(before?.isRemoved === false),
      removed: removed + Number(after?.isRemoved === true) - Number(before?.isRemoved === true),
    };
  }

  /** All keys were changed at once. */
  forget(): void {
    this.#counts = undefined;
  }
}

/**
 * Finds the reason for which a change does nothing (rule Z7). A repeated idempotency key comes first and isn't looked at
 * here; then come the version, the key mode, and the offset that the key must have.
 *
 * @param known the key, also if it was removed; undefined if the map doesn't know it
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

/** Whether a position is of the same stream as the top; a position without an epoch is. */
export function isOf(position: StreamPosition | undefined, top: StreamPosition): boolean {
  return position === undefined || position.epoch === "" || position.epoch === top.epoch;
}
