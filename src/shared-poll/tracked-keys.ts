import type { KeyChange, KnownVersion } from "../contract/poll-batch.ts";

/**
 * Which keys of one channel the connections of one object track, until when, and which version each of them was sent
 * last. A connection gets a change only if it is newer than that (rule SP2), and nothing after its signature has expired.
 */
export class TrackedKeys<Tracker> {
  readonly #byKey = new Map<string, Map<Tracker, Track>>();
  readonly #byTracker = new Map<Tracker, TrackerKeys>();
  #size = 0;
  #length = 0;
  /** When the first track ends, or earlier: ms since 1970; Infinity for never. */
  #firstEndMs = Number.POSITIVE_INFINITY;

  /** How many keys are tracked, each connection counted. */
  get size(): number {
    return this.#size;
  }

  /** The characters of all keys that are tracked, each connection counted. */
  get length(): number {
    return this.#length;
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

  /** Tracks a key for a connection, which says which version it has; a later version that it was sent counts on. */
  track(tracker: Tracker, { key, version, endsAtMs }: TrackedKey): void {
    const own = this.#byTracker.get(tracker) ?? { tracks: new Map<string, Track>(), length: 0 };
    this.#byTracker.set(tracker, own);
    this.#firstEndMs = Math.min(this.#firstEndMs, endsAtMs);
    const known = own.tracks.get(key);
    if (known !== undefined) {
      known.endsAtMs = endsAtMs;
      if (version > known.version) known.version = version;
      return;
    }
    const track = { version, endsAtMs };
    own.tracks.set(key, track);
    own.length += key.length;
    const trackers = this.#byKey.get(key);
    if (trackers === undefined) this.#byKey.set(key, new Map([[tracker, track]]));
    else trackers.set(tracker, track);
    this.#size++;
    this.#length += key.length;
  }

  /** A connection tracks a key no more. @returns whether nobody tracks it now, and somebody did before */
  untrack(tracker: Tracker, key: string): boolean {
    const own = this.#byTracker.get(tracker);
    if (own?.tracks.delete(key) !== true) return false;
    own.length -= key.length;
    this.#size--;
    this.#length -= key.length;
    if (own.tracks.size === 0) this.#byTracker.delete(tracker);
    const trackers = this.#byKey.get(key);
    trackers?.delete(tracker);
    if (trackers?.size !== 0) return false;
    this.#byKey.delete(key);
    return true;
  }

  /** A connection tracks nothing any more. @returns the keys that nobody tracks now */
  leave(tracker: Tracker): readonly string[] {
    const keys = [...(this.#byTracker.get(tracker)?.tracks.keys() ?? [])];
    return keys.filter((key) => this.untrack(tracker, key));
  }

  /**
   * Notes that a connection is sent a change.
   *
   * @returns false if the connection must not be sent it: it has the version, or doesn't track the key
   */
  note(tracker: Tracker, { key, version = 0n }: KeyChange): boolean {
    const track = this.#byTracker.get(tracker)?.tracks.get(key);
    if (track === undefined || version <= track.version) return false;
    track.version = version;
    return true;
  }

  /**
   * Takes a change: a removed key is tracked no more. What has expired has to be ended before, with {@link expire}.
   *
   * @returns the connections that are to be sent the change
   */
  take(change: KeyChange): readonly Tracker[] {
    const trackers = [...(this.#byKey.get(change.key)?.keys() ?? [])];
    if (change.removed !== true) return trackers.filter((each) => this.note(each, change));
    for (const tracker of trackers) this.untrack(tracker, change.key);
    return trackers;
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
}

interface TrackerKeys {
  readonly tracks: Map<string, Track>;
  /** The characters of the keys. */
  length: number;
}
