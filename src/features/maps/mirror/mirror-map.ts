import type { ChannelPart } from "../../../channel/channel-part.ts";
import type { ChannelOperation } from "../../../contract/channel-call.ts";
import type { RelayRequest } from "../../../contract/relay-request.ts";
import { limits } from "../../../limits.ts";
import { dueMoment, elapsed } from "../../../moment.ts";
import { type Payload, samePayload } from "../../../protocol/payload.ts";
import type { ClientInfo } from "../../../protocol/publication.ts";
import type { ChannelMap } from "../channel-map.ts";
import { plainMapPublish } from "../map-call.ts";

/**
 * A mirror: an ephemeral map whose keys come from the object of another channel, its source (rules Z22 to Z24 and Z27
 * to Z28). In a census, the source's object lists everything. A census is made before the first page is read, and twice
 * within each `key_ttl` while the map has subscribers. In between, the source's object reports what changes.
 *
 * ```text
 * first page ─► census ─► slices ─► page      change ─► there: set · gone: remove
 *     alarm ───────┘  what is reported meanwhile is newer than the list
 * ```
 *
 * While nobody looks, nothing is counted, and the keys are forgotten.
 */
export class MirrorMap<Item> implements ChannelPart {
  /** The channel that the map is the mirror of. */
  readonly source: string;
  readonly #map: ChannelMap;
  readonly #setup: MirrorSetup<Item>;
  readonly #sliceItems: number;
  /** When the last census ended, ms since 1970; undefined before this instance's first. */
  #countedMs: number | undefined;
  /** When the next census is due while somebody is subscribed, ms since 1970. */
  #nextMs: number;
  #census: MirrorCensus<Item> | undefined;
  #waiting: MirrorDone[] = [];
  /** Of the last list; undefined before it, and where lists have none. */
  #edition: string | undefined;
  /**
   * The source's object has reported a change of another edition, which means nothing before a list of that edition.
   */
  #isOutdated = false;

  constructor(map: ChannelMap, source: string, setup: MirrorSetup<Item>) {
    this.source = source;
    this.#map = map;
    this.#setup = setup;
    this.#sliceItems = setup.sliceItems ?? limits.presenceSliceClients;
    this.#nextMs = setup.nowMs + this.#intervalMs;
  }

  /** Waits if one of the calls reads the map from its beginning, which has to be as new as the call. */
  whenReadable(
    calls: readonly (ChannelOperation | RelayRequest)[],
    nowMs: number,
    done: MirrorDone,
  ): void {
    if (calls.some(readsKeys)) this.ready(nowMs, done);
    else done("ready");
  }

  /**
   * Calls `done` once the keys may be read: at once, or after a census.
   *
   * @param done "failed" if the source's object didn't answer
   */
  ready(nowMs: number, done: MirrorDone): void {
    if (this.#census === undefined && this.#isFresh(nowMs)) done("ready");
    else this.#waiting.push(done);
  }

  /** Whether to ask the source's object now. The answer is for {@link counted}, once. */
  begins(nowMs: number): boolean {
    if (this.#census !== undefined) return false;
    const isDue = this.#setup.isHeld() && (this.#isOutdated || nowMs >= this.#nextAtMs(nowMs));
    if (!isDue && this.#waiting.length === 0) return false;
    this.#census = new MirrorCensus();
    this.#nextMs = nowMs + this.#intervalMs;
    this.#isOutdated = false;
    return true;
  }

  /**
   * Takes the list of a census. If there is one, {@link slice} has to be called until it is over.
   *
   * @param list undefined if the source's object didn't answer in time
   * @returns whether there is one
   */
  counted(list: MirrorList<Item> | undefined, nowMs: number): boolean {
    if (list !== undefined) {
      // Changes of another edition say nothing about this one.
      if (list.edition !== this.#edition) this.#census?.told.clear();
      this.#edition = list.edition;
      this.#census?.list(list.items, list.isComplete);
      return true;
    }
    this.#nextMs = nowMs + this.#intervalMs / 2;
    this.#end("failed");
    return false;
  }

  /**
   * Applies a slice of the list, as changes of the map.
   *
   * @returns whether the census is over
   */
  slice(nowMs: number): boolean {
    const census = this.#census;
    if (census === undefined) return true;
    if (!census.isListed) this.#showNext(census, nowMs);
    else if (!this.#hideNext(census, nowMs)) {
      this.#countedMs = nowMs;
      this.#end("ready");
      return true;
    }
    return false;
  }

  /**
   * Takes the changes that the source's object reports. While nobody looks, the answer asks it to stop.
   *
   * @param edition of the list that the changes are changes of
   */
  takes(
    changes: readonly MirrorChange<Item>[],
    edition: string | undefined,
    nowMs: number,
  ): MirrorToldReply {
    if (!this.#setup.isHeld() && this.#census === undefined && !this.#isFresh(nowMs))
      return { outcome: "left" };
    if (edition !== this.#edition) {
      this.#isOutdated = true;
      return { outcome: "taken" };
    }
    for (const { isGone, item } of changes) {
      const shown = this.#setup.keyOf(item);
      if (shown === undefined) continue;
      this.#census?.told.add(shown.key);
      if (isGone) this.#hide(shown.key, nowMs);
      else if (!this.#hasNewer(shown)) this.#show(shown, nowMs);
    }
    return { outcome: "taken" };
  }

  /** The object's alarm rings: counts, or forgets the keys if nobody has looked since the last census. */
  ring(nowMs: number): void {
    if (this.#census !== undefined || this.#waiting.length > 0) return;
    // An instance that an alarm wakes doesn't know when the last census was.
    if (this.#setup.isHeld()) this.#nextMs = this.#countedMs === undefined ? nowMs : this.#nextMs;
    else if (!this.#isFresh(nowMs) && !this.#map.isEmpty) this.#map.clear(nowMs);
  }

  /** When the alarm has to ring, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    if (this.#setup.isHeld()) return this.#nextAtMs(nowMs);
    if (this.#map.isEmpty) return Number.POSITIVE_INFINITY;
    // The keys are fresh for a while from the end of the census on, and the next one is due by its beginning.
    const freshMs = (this.#countedMs ?? 0) + this.#intervalMs;
    return Math.max(this.#nextAtMs(nowMs), dueMoment(freshMs, this.#intervalMs, nowMs));
  }

  #nextAtMs(nowMs: number): number {
    return dueMoment(this.#nextMs, this.#intervalMs, nowMs);
  }

  get #intervalMs(): number {
    return this.#setup.keyTtlMs / 2;
  }

  /** Whether the keys are those of a census that isn't old, with the changes that were reported since. */
  #isFresh(nowMs: number): boolean {
    if (this.#countedMs === undefined || this.#isOutdated) return false;
    return !elapsed(this.#countedMs, this.#intervalMs, nowMs);
  }

  #showNext(census: MirrorCensus<Item>, nowMs: number): void {
    for (const item of census.next(this.#sliceItems)) {
      const shown = this.#setup.keyOf(item);
      if (shown === undefined) continue;
      census.found.add(shown.key);
      if (!census.told.has(shown.key)) this.#show(shown, nowMs);
    }
  }

  /** @returns whether there were further keys */
  #hideNext(census: MirrorCensus<Item>, nowMs: number): boolean {
    const keys = this.#map.keysAfter(census.after, this.#sliceItems);
    const isAtOnce = this.#setup.hidesAtOnce(census.isComplete);
    for (const key of keys) {
      census.after = key;
      if (census.found.has(key) || census.told.has(key)) continue;
      if (isAtOnce) this.#hide(key, nowMs);
      else if (this.#map.entry(key)?.endsMs === undefined)
        this.#map.endAt(key, nowMs + this.#setup.keyTtlMs, nowMs);
    }
    return keys.length > 0;
  }

  /** Whether a reported change has come late: a list, or a later call, has shown a newer value since it was sent. */
  #hasNewer({ key, data }: MirrorKey): boolean {
    const entry = this.#map.entry(key);
    return entry !== undefined && this.#setup.isOlder?.(data, entry.data) === true;
  }

  /** Sets a key, if that changes anything. In a map that is full it does nothing (rule Z24). */
  #show({ key, data, info }: MirrorKey, nowMs: number): void {
    const entry = this.#map.entry(key);
    if (entry !== undefined && samePayload(entry.data, data) && isSame(entry.info, info))
      this.#map.endAt(key, undefined, nowMs);
    else {
      const request = plainMapPublish(key, data);
      this.#map.change({ method: "map_publish", request }, info, nowMs);
    }
  }

  #hide(key: string, nowMs: number): void {
    if (this.#map.entry(key) === undefined) return;
    const request = { key, idempotencyKey: "" };
    this.#map.change({ method: "map_remove", request }, undefined, nowMs);
  }

  #end(outcome: "ready" | "failed"): void {
    this.#census = undefined;
    for (const done of this.#waiting.splice(0)) done(outcome);
  }
}

/** What a mirror needs to know of its items. */
export interface MirrorSetup<Item> extends MirrorTimes {
  /** The key that shows an item; undefined if none does. */
  readonly keyOf: (item: Item) => MirrorKey | undefined;
  /** Whether a key that isn't in a list is removed at once, and not `keyTtlMs` later. */
  readonly hidesAtOnce: (isComplete: boolean) => boolean;
  /** Whether a reported value was sent before the shown value; absent if values don't say. */
  readonly isOlder?: (told: Payload, shown: Payload) => boolean;
}

/** When a mirror counts. */
export interface MirrorTimes {
  readonly keyTtlMs: number;
  /** Whether the map has subscribers, here or on gateways. */
  readonly isHeld: () => boolean;
  readonly nowMs: number;
  /** The items of a slice of a census; absent for the usual number. */
  readonly sliceItems?: number;
}

/** A key of a mirror, with its value. */
export interface MirrorKey {
  readonly key: string;
  readonly data: Payload;
  readonly info?: ClientInfo;
}

/** Everything that the mirror has to show. */
export interface MirrorList<Item> {
  readonly items: readonly Item[];
  /** Whether all objects that had to answer did. */
  readonly isComplete: boolean;
  /** Names what the items belong to. A reported change belongs to one edition. Absent if there is only one. */
  readonly edition?: string;
}

/** An item has come, has changed, or is gone. */
export interface MirrorChange<Item> {
  readonly isGone: boolean;
  readonly item: Item;
}

/** The reply of a mirror's object to reported changes. */
export type MirrorToldReply =
  | { readonly outcome: "taken" }
  /** Nobody looks at the map: its object needs no calls until it asks for a list. */
  | { readonly outcome: "left" }
  /** The object is overloaded and took nothing: the call is to be repeated later (rule B3). */
  | { readonly outcome: "busy" };

/** Whether a backend reads a map, or a client its first page. */
function readsKeys(call: ChannelOperation | RelayRequest): boolean {
  if (call.method === "map_state") return call.request.since === undefined;
  return call.method === "map_read_state" || call.method === "map_stats";
}

type MirrorDone = (outcome: "ready" | "failed") => void;

/** One census, from the question to its last slice. */
class MirrorCensus<Item> {
  /** The keys with a change that was reported since the question: it is newer than the list. */
  readonly told = new Set<string>();
  readonly found = new Set<string>();
  /** The last key that was looked for among those that were found. */
  after = "";
  isComplete = false;
  #items: readonly Item[] = [];
  #at = 0;

  list(items: readonly Item[], isComplete: boolean): void {
    this.#items = items;
    this.isComplete = isComplete;
  }

  get isListed(): boolean {
    return this.#at >= this.#items.length;
  }

  next(most: number): readonly Item[] {
    const part = this.#items.slice(this.#at, this.#at + most);
    this.#at += most;
    return part;
  }
}

function isSame(one: ClientInfo | undefined, other: ClientInfo | undefined): boolean {
  return (
    one?.user === other?.user &&
    one?.client === other?.client &&
    one?.connInfo === other?.connInfo &&
    one?.chanInfo === other?.chanInfo
  );
}
