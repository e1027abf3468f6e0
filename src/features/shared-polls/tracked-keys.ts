import type { KeyChange, KnownVersion } from "./poll-batch.ts";
import { type Payload, samePayload } from "../../protocol/payload.ts";

/**
 * Which keys of one channel the connections of one object track, until when, and which version each of them was sent
 * last. A connection gets a change only if it is newer than that (rule SP2), and nothing after its signature has expired.
 * For connections with deltas the newest value of each key is kept, of which the next one may be a delta (rule SP13).
 */
export class TrackedKeys<Tracker extends { readonly delta: boolean }> {
  readonly #byKey = new Map<string, KeyTrackers<Tracker>>();
  readonly #byTracker = new Map<Tracker, TrackerKeys>();
  #size = 0;
  #length = 0;
  /** When the first track ends, or earlier: ms since 1970; Infinity for never. */
  #firstEndMs = Number.POSITIVE_INFINITY;
  readonly #roomForBases: () => number;
  #basesLength = 0;

  /** @param roomForBases how many characters more the object may keep as bases of deltas */
  constructor(roomForBases: () => number) {
    this.#roomForBases = roomForBases;
  }

  /** How many keys are tracked, each connection counted. */
  get size(): number {
    return this.#size;
  }

  /** The characters of all keys that are tracked, each connection counted. */
  get length(): number {
    return this.#length;
  }

  /** The characters of the values that are kept as bases of deltas. */
  get basesLength(): number {
    return this.#basesLength;
  }

  /** How many keys a connection tracks, and how many characters these have together. */
  of(tracker: Tracker): { readonly count: number; readonly length: number } {
    const own = this.#byTracker.get(tracker);
    return { count: own?.tracks.size ?? 0, length: own?.length ?? 0 };
  }

  /** Whether somebody tracks the key. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Whether this connection tracks the key. */
  tracks(tracker: Tracker, key: string): boolean {
    return this.#byTracker.get(tracker)?.tracks.has(key) === true;
  }

  /**
   * Tracks a key for a connection, which says which version it has, 0n for none; a later version that it was sent counts
   * on, unless it has none.
   *
   * @returns whether it tracked the key already, and now has a later version from elsewhere
   */
  track(tracker: Tracker, { key, version, endsAtMs }: TrackedKey): boolean {
    const own = this.#byTracker.get(tracker) ?? { tracks: new Map<string, Track>(), length: 0 };
    this.#byTracker.set(tracker, own);
    this.#firstEndMs = Math.min(this.#firstEndMs, endsAtMs);
    const known = own.tracks.get(key);
    if (known !== undefined) {
      known.endsAtMs = endsAtMs;
      // What it has, it says now: nothing older is sent any more.
      known.isRestored = false;
      const isLater = version > known.version;
      // A client that has no value has forgotten the key, because its signature has expired: it is sent the value again.
      if (isLater || version === 0n) {
        known.version = version;
        known.hasNewest = false;
      }
      return isLater;
    }
    const track = { version, endsAtMs, hasNewest: false, isRestored: false };
    own.tracks.set(key, track);
    own.length += key.length;
    const all = this.#byKey.get(key);
    if (all === undefined)
      this.#byKey.set(key, { tracks: new Map([[tracker, track]]), newest: undefined });
    else all.tracks.set(tracker, track);
    this.#size++;
    this.#length += key.length;
    return false;
  }

  /** Tracks a key as {@link stored} said. The connection may have been sent later versions since then. */
  restore(tracker: Tracker, key: TrackedKey): void {
    this.track(tracker, key);
    const track = this.#byTracker.get(tracker)?.tracks.get(key.key);
    if (track !== undefined) track.isRestored = true;
  }

  /** A connection tracks a key no more. @returns whether nobody tracks it now, and somebody did before */
  untrack(tracker: Tracker, key: string): boolean {
    const own = this.#byTracker.get(tracker);
    if (own?.tracks.delete(key) !== true) return false;
    own.length -= key.length;
    this.#size--;
    this.#length -= key.length;
    if (own.tracks.size === 0) this.#byTracker.delete(tracker);
    const all = this.#byKey.get(key);
    all?.tracks.delete(tracker);
    if (all?.tracks.size !== 0) return false;
    this.#keepNewest(all, undefined);
    this.#byKey.delete(key);
    return true;
  }

  /** A connection tracks nothing any more. @returns the keys that nobody tracks now */
  leave(tracker: Tracker): readonly string[] {
    const keys = [...(this.#byTracker.get(tracker)?.tracks.keys() ?? [])];
    return keys.filter((key) => this.untrack(tracker, key));
  }

  /**
   * Notes that a connection is sent a change in full.
   *
   * @returns false if the connection must not be sent it: it has the version, or doesn't track the key
   */
  note(tracker: Tracker, { key, data, version = 0n }: KeyChange): boolean {
    const all = this.#byKey.get(key);
    const track = all?.tracks.get(tracker);
    if (all === undefined || track === undefined || version <= track.version) return false;
    track.version = version;
    if (all.newest === undefined && tracker.delta) this.#keepNewest(all, data);
    // Others may have been sent another value than this one.
    track.hasNewest = all.newest !== undefined && samePayload(all.newest, data);
    return true;
  }

  /**
   * Takes a change: a removed key is tracked no more. What has expired has to be ended before, with {@link expire}.
   *
   * @param mayBeLate whether a connection that was restored may have been sent a later one: then its client ignores it
   * @returns the connections that are to be sent the change
   */
  change(change: KeyChange, mayBeLate: boolean): readonly Receipt<Tracker>[] {
    const { key, data, removed, version = 0n } = change;
    const all = this.#byKey.get(key);
    if (all === undefined) return [];
    if (removed === true) {
      const trackers = [...all.tracks.keys()];
      for (const tracker of trackers) this.untrack(tracker, key);
      return trackers.map((tracker) => ({ tracker, base: undefined }));
    }
    const getting = [...all.tracks].filter(([, track]) => version > track.version);
    if (getting.length === 0) return [];
    const receipts = getting.map(([tracker, { hasNewest }]) => ({
      tracker,
      base: hasNewest && tracker.delta ? all.newest : undefined,
    }));
    this.#keepNewest(all, getting.some(([tracker]) => tracker.delta) ? data : undefined);
    for (const track of all.tracks.values()) track.hasNewest = false;
    for (const [, track] of getting) {
      track.version = version;
      track.isRestored &&= mayBeLate;
      track.hasNewest = all.newest !== undefined && !track.isRestored;
    }
    return receipts;
  }

  /** Ends what has expired. @returns the connections that track less now, and the keys that nobody tracks any more */
  expire(nowMs: number): {
    readonly trackers: ReadonlySet<Tracker>;
    readonly keys: readonly string[];
  } {
    const trackers = new Set<Tracker>();
    const keys: string[] = [];
    if (nowMs < this.#firstEndMs) return { trackers, keys };
    this.#firstEndMs = Number.POSITIVE_INFINITY;
    for (const [tracker, { tracks }] of this.#byTracker) {
      for (const [key, { endsAtMs }] of tracks) {
        if (endsAtMs > nowMs) {
          this.#firstEndMs = Math.min(this.#firstEndMs, endsAtMs);
          continue;
        }
        trackers.add(tracker);
        if (this.untrack(tracker, key)) keys.push(key);
      }
    }
    return { trackers, keys };
  }

  /** The keys that a connection tracks, to be stored. */
  stored(tracker: Tracker): readonly TrackedKey[] {
    const tracks = this.#byTracker.get(tracker)?.tracks ?? [];
    return [...tracks].map(([key, { version, endsAtMs }]) => ({ key, version, endsAtMs }));
  }

  /** Keeps a value as the base of the next delta, if there is room for it. */
  #keepNewest(all: KeyTrackers<Tracker>, data: Payload | undefined): void {
    const before = all.newest?.length ?? 0;
    const fits = data !== undefined && data.length - before <= this.#roomForBases();
    all.newest = fits ? data : undefined;
    this.#basesLength += (all.newest?.length ?? 0) - before;
  }
}

/** A connection that is sent a change. */
interface Receipt<Tracker> {
  readonly tracker: Tracker;
  /** The value of the key that it was sent last; undefined if that isn't known, or it gets no deltas. */
  readonly base: Payload | undefined;
}

/** A key that a connection tracks. */
export interface TrackedKey extends KnownVersion {
  /** When the connection gets nothing of it any more, ms since 1970; Infinity for never. */
  readonly endsAtMs: number;
}

interface Track {
  /** The version that the connection has, or was sent last. */
  version: bigint;
  endsAtMs: number;
  /** Whether the key's `newest` is what the connection was sent last. */
  hasNewest: boolean;
  /** Whether the connection may have been sent a later version than this object knows of, before it hibernated. */
  isRestored: boolean;
}

/** Who tracks a key. */
interface KeyTrackers<Tracker> {
  readonly tracks: Map<Tracker, Track>;
  /** The newest value that a connection here was sent; undefined while there is none, no room for it, or no use for it. */
  newest: Payload | undefined;
}

interface TrackerKeys {
  readonly tracks: Map<string, Track>;
  /** The characters of the keys. */
  length: number;
}
