import { mapLimits } from "./limits.ts";
import type { KeyHead, MapState } from "./map-state.ts";
import { dueMoment } from "../../moment.ts";

/**
 * Finds the keys of a map that end next (rules Z6 and Z33). The rows of the state have no index on the time, because it
 * would cost a row for each change. So the next `limits.mapExpiryKeysMax` keys to end are in memory, in a queue in the
 * order of their ends. When these have ended, a scan of all rows finds the next ones, a portion for each call of {@link
 * nextEnded}. A key that was changed since it was queued is skipped.
 *
 * The state notes a time before which no key ends, so that an object that wakes for something else looks at no row.
 */
export class MapExpiry {
  readonly #keys: { readonly state: MapState };
  readonly #options: ExpiryOptions;
  /** In the order of `dueMs`. */
  #queue: DueKey[] = [];
  /** Every key that ends before this time is in the queue. */
  #knownUntilMs: number;
  /** The look through the rows; undefined while none is under way. */
  #look: { after: string; found: DueKey[]; knownUntilMs: number } | undefined;

  /** Whether the newest change lay too far ahead when {@link checkClock} was last called. */
  #isAhead = false;

  /**
   * @param keys  whose state is asked for only when something is to be done: an ephemeral map has to read it first
   * @param isNew whether the state has no key, so that there is nothing to look for
   */
  constructor(keys: { readonly state: MapState }, options: ExpiryOptions, isNew: boolean) {
    this.#keys = keys;
    this.#options = options;
    this.#knownUntilMs = isNew ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /**
   * Looks for the keys anew if the newest change lies too far ahead, because the clock was set back since (rule S5). A
   * row is written for that, once in the life of an instance.
   */
  checkClock(newestMs: number | undefined, nowMs: number): void {
    const { keyTtlMs, lingerMs } = this.#options;
    const wasAhead = this.#isAhead;
    this.#isAhead =
      (newestMs ?? 0) - nowMs > (keyTtlMs || lingerMs || mapLimits.mapRemovedVersionMs);
    if (!this.#isAhead || wasAhead || this.#state.dueMs === undefined) return;
    this.clear();
    this.#knownUntilMs = Number.NEGATIVE_INFINITY;
    this.#state.noteDue(nowMs);
  }

  /** When a key ends, ms since 1970; undefined if it doesn't. */
  endOf({ isRemoved, timeMs, endsMs }: KeyEnding, nowMs: number): number | undefined {
    const ttlMs = isRemoved ? mapLimits.mapRemovedVersionMs : this.#options.keyTtlMs;
    if (endsMs === undefined && ttlMs === 0) return undefined;
    const grainMs = mapLimits.mapExpiryGrainMs;
    const endMs = Math.ceil((endsMs ?? timeMs + ttlMs) / grainMs) * grainMs;
    const intervalMs = endsMs === undefined ? ttlMs : this.#options.lingerMs;
    return dueMoment(endMs, Math.max(intervalMs, grainMs), nowMs);
  }

  get #state(): MapState {
    return this.#keys.state;
  }

  /** Notes a change of a key, after it was written: a row is written if the key ends before all others. */
  changed(head: Omit<KeyHead, "bytes">): void {
    // It has just been changed, by the clock as it is.
    const dueMs = this.endOf(head, Number.POSITIVE_INFINITY);
    if (dueMs === undefined) return;
    const due: DueKey = { key: head.key, offset: head.offset, dueMs };
    this.#look?.found.push(due);
    if (dueMs < this.#knownUntilMs) this.#insert(due);
    if (dueMs < (this.#state.dueMs ?? Number.POSITIVE_INFINITY)) this.#state.noteDue(dueMs);
  }

  /**
   * The next keys that have ended, at most `limits.mapExpirySliceKeys` of them, in the order in which they ended. Call
   * {@link settled} once each was removed.
   */
  nextEnded(nowMs: number): readonly string[] {
    if ((this.#state.dueMs ?? Number.POSITIVE_INFINITY) > nowMs) return [];
    if ((this.#queue[0]?.dueMs ?? Number.POSITIVE_INFINITY) > nowMs && this.#knownUntilMs <= nowMs)
      this.#lookOn(nowMs);
    const ended: string[] = [];
    let looked = 0;
    while (ended.length < mapLimits.mapExpirySliceKeys && looked < mapLimits.mapExpiryRowsMax) {
      const next = this.#queue[looked];
      if (next === undefined || next.dueMs > nowMs) break;
      looked++;
      // A key that was changed, or ends later by now, is in the queue once more.
      const known = this.#state.known(next.key);
      if (known?.offset === next.offset && this.#hasEnded(known, nowMs)) ended.push(next.key);
    }
    this.#queue.splice(0, looked);
    return ended;
  }

  /** Notes when the next key ends: a row is written if that has changed. */
  settled(nowMs: number): void {
    if ((this.#state.dueMs ?? Number.POSITIVE_INFINITY) > nowMs) return;
    // While a look is under way it goes on at once.
    if (this.#look !== undefined) return;
    const dueMs = Math.min(
      this.#queue[0]?.dueMs ?? Number.POSITIVE_INFINITY,
      Math.max(this.#knownUntilMs, 0),
    );
    this.#state.noteDue(dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs);
  }

  /** A key that couldn't be removed ends later. */
  postpone(head: Omit<KeyHead, "bytes">, dueMs: number): void {
    this.#insert({ key: head.key, offset: head.offset, dueMs });
  }

  /** The state was cleared. */
  clear(): void {
    this.#queue = [];
    this.#look = undefined;
    this.#knownUntilMs = Number.POSITIVE_INFINITY;
  }

  #hasEnded(ending: KeyEnding, nowMs: number): boolean {
    return (this.endOf(ending, nowMs) ?? Number.POSITIVE_INFINITY) <= nowMs;
  }

  #insert(due: DueKey): void {
    // Keys end in the order in which they were changed, unless removed ones are among them.
    let [low, high] = [0, this.#queue.length];
    if ((this.#queue.at(-1)?.dueMs ?? 0) <= due.dueMs) low = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#queue[middle]?.dueMs ?? 0) <= due.dueMs) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, due);
    const max = mapLimits.mapExpiryKeysMax;
    if (this.#queue.length <= 2 * max) return;
    this.#queue.length = max;
    this.#knownUntilMs = this.#queue.at(-1)?.dueMs ?? this.#knownUntilMs;
  }

  /** Looks at the next portion of the rows. */
  #lookOn(nowMs: number): void {
    this.#look ??= { after: "", found: [], knownUntilMs: Number.POSITIVE_INFINITY };
    const look = this.#look;
    const heads = this.#state.heads(look.after, mapLimits.mapExpiryRowsMax);
    for (const head of heads) {
      const dueMs = this.endOf(head, nowMs);
      if (dueMs !== undefined) look.found.push({ key: head.key, offset: head.offset, dueMs });
    }
    look.after = heads.at(-1)?.key ?? look.after;
    const isOver = heads.length < mapLimits.mapExpiryRowsMax;
    if (isOver || look.found.length > 2 * mapLimits.mapExpiryKeysMax) cut(look);
    if (!isOver) return;
    this.#queue = look.found;
    this.#knownUntilMs = look.knownUntilMs;
    this.#look = undefined;
  }
}

/** What says when a key ends. */
type KeyEnding = Pick<KeyHead, "isRemoved" | "timeMs" | "endsMs">;

/** How long keys live. */
export interface ExpiryOptions {
  /** After their last change; 0: until they are removed. */
  readonly keyTtlMs: number;
  /** How long a key lives once it is given an end of its own; 0 if none is. */
  readonly lingerMs: number;
}

/** A key and when it ends, unless it is changed after this offset. */
interface DueKey {
  readonly key: string;
  readonly offset: number;
  readonly dueMs: number;
}

/** Sorts the keys that were found, and keeps those that end first. */
function cut(look: { found: DueKey[]; knownUntilMs: number }): void {
  look.found.sort((one, other) => one.dueMs - other.dueMs || one.offset - other.offset);
  const max = mapLimits.mapExpiryKeysMax;
  if (look.found.length <= max) return;
  look.found.length = max;
  // Of the keys that end together with the last one, some were cut off: another look finds them.
  look.knownUntilMs = Math.min(look.knownUntilMs, look.found.at(-1)?.dueMs ?? 0);
}
