import type { ChannelOptions } from "../../config/config.ts";
import type {
  MapAppendRequest,
  MapChange,
  MapPageQuery,
  MapPublishRequest,
  MapRemoveRequest,
  MapStateQuery,
} from "./map-call.ts";
import { mapLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import { MapExpiry } from "./map-expiry.ts";
import {
  type MapPage,
  pageRows,
  readPage,
  type ChangeFailure,
  type MapChangeOutcome,
  type MapCounts,
  type MapPageOutcome,
  type MapStatePage,
  type MapStateOutcome,
} from "./map-outcomes.ts";
import { isOf, KeyCounter, type KnownKey, type MapEntry, suppressionOf } from "./map-state.ts";
import { type AppendOutcome, type GrowingMap, MapGrowth } from "./growth/map-growth.ts";
import { SharedPages } from "./shared-pages.ts";
import type { ClientInfo, Publication, StreamPosition } from "../../protocol/publication.ts";
import type { HistoryQuery } from "../../contract/channel-call.ts";
import type { History, HistoryOutcome } from "../../channel/history.ts";
import type { HistoryEntry } from "../../channel/history-table.ts";
import type { ChannelKeys, KeyedChannel, KeysSetup } from "../../channel/keyed-stream.ts";
import {
  grownChange,
  liveChange,
  publicationOf,
  removalChange,
  removedEntry,
  settingOf,
} from "./map-publication.ts";
import type { MapStore } from "./map-store.ts";
import { recoverPage, type Recovery, withoutOutgrown } from "../../channel/recovery.ts";
import type { PublicationStore } from "../../channel/publication-store.ts";
import type { Changer } from "../../channel/publication-request.ts";

/**
 * The keys and values of a channel that is a map (the rules Z). A change is a publication of the channel: it gets the next
 * offset, and the channel stores it in its stream and collects it as any other. This class decides whether a change is
 * made, writes the state in the same transaction, and says which keys end. So the state and the top are always of the
 * same moment.
 */
export class ChannelMap implements ChannelKeys {
  readonly #options: ChannelOptions;
  readonly #store: MapStore;
  readonly #history: History;
  readonly #publications: PublicationStore;
  readonly #channel: KeyedChannel;
  readonly #counts: MapCounts | undefined;
  readonly #expiry: MapExpiry;
  readonly #pages = new SharedPages<MapStatePage>();
  readonly #keyCounter: KeyCounter;
  /** The values that grow. */
  readonly growth: MapGrowth;
  /** Whether the state of an ephemeral map was lost, and its subscribers haven't been notified yet (rule Z30). */
  #isLost: boolean;
  /** Whether subscribers were sent pieces that are lost, and haven't been notified yet (rule Z41). */
  #wasTelling: boolean;
  #hasBegun = false;

  /** @param store where the keys are */
  constructor(
    options: ChannelOptions,
    store: MapStore,
    { channel, history, publications, counts }: KeysSetup,
  ) {
    this.#options = options;
    this.#store = store;
    this.#history = history;
    this.#publications = publications;
    this.#channel = channel;
    this.#counts = counts?.ofMap();
    // The keys of a presence map end when their clients are gone, see `endAt`.
    const lingerMs = options.map?.keyTtlMs ?? 0;
    const keyTtlMs = options.subscriptionType === "map" ? lingerMs : 0;
    this.#expiry = new MapExpiry(store, { keyTtlMs, lingerMs }, store.isNew);
    this.#isLost = store.wasLost;
    this.#keyCounter = new KeyCounter(store);
    const windowMs = options.map?.appendWindowMs ?? 0;
    this.growth = new MapGrowth(this.#growing(), windowMs, keyTtlMs, store.windowMark);
    this.#wasTelling = this.growth.isTelling;
  }

  /**
   * Changes a key, unless there is a reason not to (rule Z7).
   *
   * @param info   the client that changes it; undefined for a backend
   * @param apiKey the name of the backend's API key; "" if it isn't known
   */
  change(
    change: MapChange,
    info: ClientInfo | undefined,
    nowMs: number,
    apiKey = "",
  ): MapChangeOutcome {
    this.expire(nowMs);
    const { request } = change;
    const failure = this.growth.end(request.key, nowMs);
    if (failure !== undefined) return { outcome: failure };
    const first = this.#publications.firstResult(request.idempotencyKey, nowMs);
    const known = this.#known(request.key, nowMs);
    const reason = first === undefined ? suppressionOf(change, known) : "idempotency";
    if (reason !== undefined) {
      this.#counts?.suppressed(change.method, reason);
      const position = first?.position ?? this.#history.position(nowMs);
      const currentOffset = known?.isRemoved === false ? known.offset : 0;
      return { outcome: "suppressed", reason, position, currentOffset };
    }
    const by: Changer = { info, apiKey, nowMs };
    const position =
      change.method === "map_publish"
        ? this.#publish(change.request, known, by)
        : this.#remove(change.request, known, by);
    if (typeof position === "string") return { outcome: position };
    this.#counts?.changed(change.method);
    return { outcome: "changed", position };
  }

  /** Whether a change would do nothing (rule Z7). */
  isVain(change: MapChange, nowMs: number): boolean {
    const { key, idempotencyKey } = change.request;
    const isRepeated = this.#publications.firstResult(idempotencyKey, nowMs) !== undefined;
    return isRepeated || suppressionOf(change, this.#known(key, nowMs)) !== undefined;
  }

  /** Appends a text to the value of a key (rule Z38); see {@link change} for the parameters. */
  append(
    request: MapAppendRequest,
    info: ClientInfo | undefined,
    nowMs: number,
    apiKey = "",
  ): AppendOutcome {
    this.expire(nowMs);
    const appended = this.growth.append(request, { info, apiKey, nowMs });
    if (appended.outcome === "appended") this.#counts?.changed("map_append");
    if (appended.outcome === "not-appended")
      this.#counts?.suppressed("map_append", appended.reason);
    return appended;
  }

  /**
   * Reads a page of the state for a client (rule Z3), or gives one that was read a moment ago. `position` is the top of
   * that moment.
   *
   * @param bytesMax the most that the client can take
   */
  page(query: MapPageQuery, nowMs: number, bytesMax: number): MapPageOutcome {
    const { cursor, limit, since } = query;
    const top = this.#begin(nowMs);
    const key = JSON.stringify([top.epoch, query, bytesMax]);
    const known = this.#pages.find(key, nowMs);
    // A client that reads a later page gets the changes after the first one anyway.
    if (known !== undefined && (since !== undefined || known.position.offset === top.offset))
      return known;
    const read = this.#read(cursor, limit, since, nowMs, bytesMax);
    if (read.outcome === "unrecoverable") return read;
    const publications = read.entries.map(publicationOf);
    const { cursor: next, position } = read;
    const page = { outcome: "map_state", publications, cursor: next, position } as const;
    this.#pages.keep(key, page, nowMs);
    return page;
  }

  /**
   * Reads the oldest changes after a position, for a client that has read the state (rule Z4).
   *
   * @param limit    at most so many
   * @param bytesMax the most that the client can take; a single change may be larger
   */
  changesAfter(
    since: StreamPosition,
    limit: number,
    nowMs: number,
    bytesMax: number,
  ): Recovery & { readonly position: StreamPosition } {
    const position = this.#begin(nowMs);
    const page = this.#history.readPage(since.offset, bytesMax, 0, nowMs, limit);
    const recovered = recoverPage(since, position, page);
    if (recovered.outcome === "unrecoverable") return { ...recovered, position };
    return { ...recovered, publications: withoutOutgrown(recovered.publications), position };
  }

  /** Reads the changes for a backend. */
  changes(query: HistoryQuery, nowMs: number): HistoryOutcome {
    return this.#channel.readStream(query, nowMs);
  }

  /** Reads the state for a backend. `position` is that of the first page; `entries` are none if it asks for none. */
  readState(query: MapStateQuery, nowMs: number): MapStateOutcome {
    const { key, limit, revision, cursor } = query;
    const position = this.#begin(nowMs);
    if (!isOf(revision, position)) return { outcome: "unrecoverable", position };
    const at = revision ?? position;
    if (key !== "") {
      const entry = this.#store.state.read(key);
      const isSeen = entry !== undefined && entry.offset <= at.offset;
      return { outcome: "state", entries: isSeen ? [entry] : [], cursor: "", position: at };
    }
    if (limit === 0) return { outcome: "state", entries: [], cursor: "", position: at };
    const most = mapLimits.mapAnswerEntriesMax;
    const entriesMax = limit < 0 ? most : Math.min(limit, most);
    const read = this.#read(cursor, entriesMax, revision, nowMs, limits.answerBytesMax / 2);
    return read.outcome === "unrecoverable" ? read : { ...read, outcome: "state", position: at };
  }

  /** How many keys the map has. */
  keys(nowMs: number): number {
    this.expire(nowMs);
    return this.#keyCounter.counts.keys;
  }

  /** A key as it is, with its value, also if it has to end by now; undefined if the map hasn't the key. */
  entry(key: string): MapEntry | undefined {
    return this.#store.state.read(key);
  }

  /** The first keys after a key, in their order; "" for the first of all. */
  keysAfter(after: string, count: number): readonly string[] {
    return this.#store.state.heads(after, count).map(({ key }) => key);
  }

  /** Makes a key end at a time, ms since 1970, or never; nothing is sent before. For presence maps (rule Z23). */
  endAt(key: string, endsMs: number | undefined, nowMs: number): void {
    const entry = this.entry(key);
    if (entry === undefined || entry.endsMs === endsMs) return;
    this.#store.changing(nowMs);
    const { endsMs: _, ...lasting } = entry;
    const changed = endsMs === undefined ? lasting : { ...lasting, endsMs };
    this.#store.state.write(changed);
    this.#expiry.changed(changed);
  }

  /** Whether the map has no key and remembers none. */
  get isEmpty(): boolean {
    return this.#store.isEmpty;
  }

  /** Forgets all keys: the channel begins a new stream, and its subscribers synchronise anew (rule Z5). */
  clear(nowMs: number): void {
    this.growth.clear();
    this.#store.changing(nowMs);
    this.#store.state.clear();
    this.#expiry.clear();
    this.#keyCounter.forget();
    this.#channel.restart(nowMs);
  }

  /**
   * Notifies the subscribers that the state of an ephemeral map was lost in a crash. For a map that never had a key, it
   * begins the stream in which they go on (rule Z30). Call it before anything else, or at the end of the first event.
   */
  tellLoss(nowMs: number): void {
    if (this.#wasTelling) {
      this.#wasTelling = false;
      this.#channel.restart(nowMs, () => this.growth.clear());
    } else if (this.#isLost) {
      this.#isLost = false;
      this.clear(nowMs);
    } else if (!this.#hasBegun && this.#channel.isHeld) {
      // First, because the channel calls this method to find its position.
      this.#hasBegun = true;
      this.#channel.position(nowMs);
    }
  }

  /** The channel deletes its stream, and no key is left (rule H6). */
  forget(): void {
    this.growth.clear();
    this.#store.forget();
    this.#expiry.clear();
    this.#keyCounter.forget();
  }

  /** When to call {@link expire}, ms since 1970; undefined if there is nothing to wait for. */
  get dueAtMs(): number | undefined {
    return this.#store.dueMs;
  }

  checkClock(nowMs: number): void {
    this.#expiry.checkClock(this.#history.newestMs, nowMs);
  }

  /** Removes keys that have ended, in the order in which they ended: a bounded number of them (rule Z6). */
  expire(nowMs: number): void {
    this.tellLoss(nowMs);
    this.checkClock(nowMs);
    if ((this.#store.dueMs ?? Number.POSITIVE_INFINITY) > nowMs) return;
    this.#store.changing(nowMs);
    for (const key of this.#expiry.nextEnded(nowMs)) {
      // Pieces of it that were sent make it live longer.
      if (this.growth.isWaiting(key) && this.growth.makeDurable(key, nowMs) === undefined) continue;
      const known = this.#store.state.known(key);
      if (known !== undefined && !this.#end(known, nowMs))
        this.#expiry.postpone(known, nowMs + mapLimits.mapExpiryGrainMs);
    }
    this.#expiry.settled(nowMs);
  }

  /** Writes an ephemeral map down once it is quiet, so that the object may hibernate (rule Z11). */
  rest(nowMs: number): void {
    const position = this.#history.position(nowMs);
    this.#store.rest(position, this.#history.newestMs, nowMs);
  }

  /** In how many ms to call {@link rest}; undefined if nothing has to be written down. */
  restInMs(nowMs: number): number | undefined {
    return this.#store.restInMs(nowMs);
  }

  #begin(nowMs: number): StreamPosition {
    this.expire(nowMs);
    return this.#history.position(nowMs);
  }

  #read(
    cursor: string,
    entriesMax: number,
    since: StreamPosition | undefined,
    nowMs: number,
    bytesMax: number,
  ):
    | (MapPage & { readonly outcome: "read"; readonly position: StreamPosition })
    | { readonly outcome: "unrecoverable"; readonly position: StreamPosition } {
    const position = this.#begin(nowMs);
    if (!isOf(since, position)) return { outcome: "unrecoverable", position };
    const page = readPage(this.#store.state, {
      cursor,
      entriesMax,
      bytesMax,
      offsetMax: since?.offset ?? position.offset,
      rowsMax: pageRows(entriesMax),
    });
    return { outcome: "read", ...page, position };
  }

  /** Finds a key. If it has ended, it is removed first, so that the change under way comes after its removal. */
  #known(key: string, nowMs: number): KnownKey | undefined {
    const known = this.#store.state.known(key);
    if (known === undefined) return undefined;
    const endMs = this.#expiry.endOf(known, nowMs);
    if (endMs === undefined || endMs > nowMs) return known;
    this.#end(known, nowMs);
    return this.#store.state.known(key);
  }

  /** What the growing values need of the map. */
  #growing(): GrowingMap {
    return {
      firstResult: (...asked) => this.#publications.firstResult(...asked),
      known: (...asked) => this.#known(...asked),
      entry: (key) => this.entry(key),
      position: (nowMs) => this.#history.position(nowMs),
      changing: (nowMs) => this.#store.changing(nowMs),
      tell: (piece) => this.#channel.grow(piece),
      write: ({ entry, ...change }, known, by) => {
        const isNew = known?.isRemoved !== false;
        if (isNew && this.#keyCounter.counts.keys >= mapLimits.mapKeysMax) return "full";
        if (!this.#store.hasRoom(entry)) return "full";
        const written = this.#append(grownChange(entry, change), undefined, entry, known, by);
        if (typeof written !== "string") this.#counts?.windowEnded();
        return written;
      },
    };
  }

  #publish(
    request: MapPublishRequest,
    known: KnownKey | undefined,
    by: Changer,
  ): StreamPosition | ChangeFailure {
    const { state } = this.#store;
    const { key, streamData } = request;
    const isNew = known?.isRemoved !== false;
    if (isNew && this.#keyCounter.counts.keys >= mapLimits.mapKeysMax) return "full";
    const mayBePatch = streamData === undefined && (request.delta || this.#options.deltaPublish);
    const hasBase = mayBePatch && known?.isDiverted === false && !known.isRemoved;
    const before = hasBase ? state.read(key)?.data : undefined;
    const { entry, change } = settingOf(request, known, by, mayBePatch);
    if (!this.#store.hasRoom(entry)) return "full";
    return this.#append(change, before, entry, known, by);
  }

  #remove(
    request: MapRemoveRequest,
    known: KnownKey | undefined,
    by: Changer,
  ): StreamPosition | ChangeFailure {
    const removal = removalChange(request, known, by.info);
    const isRemembered =
      known !== undefined &&
      known.version > 0n &&
      this.#keyCounter.counts.removed < mapLimits.mapRemovedVersionsMax;
    const entry = isRemembered ? removedEntry(known, by.nowMs) : undefined;
    return this.#append(removal, undefined, entry, known, by);
  }

  /** Removes a key that has ended, or forgets one that was removed. @returns whether there was room for that */
  #end(known: KnownKey, nowMs: number): boolean {
    this.growth.forget(known.key);
    if (known.isRemoved) {
      this.#store.changing(nowMs);
      this.#store.state.delete(known.key);
      this.#keyCounter.changed(known, undefined);
      return true;
    }
    const by: Changer = { info: undefined, apiKey: "", nowMs };
    const end = { key: known.key, idempotencyKey: "" };
    if (typeof this.#remove(end, known, by) === "string") return false;
    this.#counts?.ended();
    return true;
  }

  /**
   * Stores a change in the stream and in the state, and collects it.
   *
   * @param before the data of the key before, if subscribers may get a delta from it
   * @param entry  the key's entry after the change; undefined if nothing of it stays
   */
  #append(
    change: HistoryEntry,
    before: Publication["before"],
    entry: Omit<MapEntry, "offset"> | undefined,
    known: KnownKey | undefined,
    by: Changer,
  ): StreamPosition | ChangeFailure {
    const { state } = this.#store;
    this.#store.changing(by.nowMs);
    this.#pages.forgetOld(by.nowMs);
    const store = (offset: number): void => {
      if (entry !== undefined) state.write({ ...entry, offset });
      else if (change.key !== undefined) state.delete(change.key);
    };
    const position = this.#publications.append(change, by.nowMs, store);
    if (position === undefined) return "too-many-keys";
    const publication = liveChange(change, by.info, position, before);
    this.#channel.published(publication, change, position, by);
    this.#keyCounter.changed(known, entry);
    if (entry !== undefined) this.#expiry.changed({ ...entry, offset: position.offset });
    return position;
  }
}
