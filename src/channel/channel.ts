import type { HistoryQuery, PublicationRequest } from "../contract/channel-call.ts";
import type { ChannelOptions } from "../config/config.ts";
import { Hub } from "../hub/hub.ts";
import type { Subscriber } from "../hub/subscriber.ts";
import { limits } from "../limits.ts";
import type { Piece } from "../protocol/piece.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import type { AcceptedEntry, ChannelPart, PartedChannel } from "./channel-part.ts";
import type { PublishOutcome, SubscribeOptions, SubscribeOutcome } from "./channel-outcomes.ts";
import type { ChannelSetup } from "./channel-setup.ts";
import type { ChannelCounts } from "./channel-outcomes.ts";
import { GatewayRegistry } from "./gateway-registry.ts";
import { Relay } from "./relay.ts";
import type { History, HistoryOutcome, HistoryRange } from "./history.ts";
import type { Idempotency } from "./idempotency.ts";
import { type Changer, entryOf, livePublication } from "./publication-request.ts";
import { recover, recoverNewest, recoverPage, type Recovery } from "./recovery.ts";
import type { PublicationStore } from "./publication-store.ts";
import { openStream } from "./stored-stream.ts";
import type { ChannelKeys, KeyedChannel } from "./keyed-stream.ts";
import type { HistoryEntry } from "./history-table.ts";

/**
 * One channel: the aggregate that puts its publications in order and collects them (rules O1 to O3). A publication
 * takes three steps. This class takes the first, in one synchronous stretch that nothing can interrupt:
 *
 * - collect: {@link publish} assigns the offset and writes the row, `hub` collects the frame for the subscribers here,
 *   and `relay` numbers the entry.
 * - commit: the platform makes the writes durable (src/object/commit-queue.ts), for all jobs that share the
 *   commit.
 * - settle: `hub.begin` starts to send the frame, and `relay.deliveries` says which gateways to call.
 *
 * A frame for one subscriber that leaves or publishes (rule F5) is handed to the socket before the commit. The platform
 * holds the frame back until the writes are durable (rule O2).
 *
 * {@link History} has the epoch, the offsets and the stored publications. {@link Idempotency} has the keys,
 * {@link GatewayRegistry} the list of gateways, and `hub` the subscribers here. `relay` has the entries and how far
 * each gateway is with them. This class keeps all of them in step.
 */
export class Channel implements KeyedChannel, PartedChannel {
  readonly name: string;
  readonly options: ChannelOptions;
  /** The subscribers with sockets of this object. */
  readonly hub: Hub;
  /** The gateways that follow the channel for subscribers elsewhere. */
  readonly relay: Relay;
  /** The keys that the publications change; undefined for a stream without keys. */
  readonly keys: ChannelKeys | undefined;
  /** The features' parts of the channel, in the order in which they are asked. */
  readonly parts: readonly ChannelPart[];
  /** The part that says when the channel can be read; undefined if that is always. */
  readonly gate: ChannelPart | undefined;
  /** The decision of a part on operations before they are carried out; undefined if no part decides. */
  readonly decide: ChannelPart["decide"];
  readonly #publications: ChannelSetup["publications"];
  readonly #counts: ChannelCounts | undefined;
  readonly #recoveryLimit: number;
  readonly #recoveryBytesMax: number;
  readonly #pageBytesMax: number;
  readonly store: PublicationStore;
  readonly #history: History;
  readonly #idempotency: Idempotency;
  readonly #registry: GatewayRegistry;
  readonly #accepted: ChannelSetup["accepted"];
  /** The parts that take each publication. */
  readonly #accepting: readonly ChannelPart[];
  /** Whether there was a subscriber or a gateway since {@link noteHolders} was last called. */
  #wasHeld = false;
  #gatewaysCounted = 0;

  constructor(setup: ChannelSetup) {
    const { name, options, client } = setup;
    this.name = name;
    this.options = options;
    this.#publications = setup.publications;
    this.#counts = setup.counts;
    const kind = setup.features?.keyedStreamOf(options);
    const hidesOffsets = kind?.hidesOffsets === true;
    this.hub = new Hub(name, client.queueMaxSizeBytes, { ...setup, ...setup.counts, hidesOffsets });
    this.#recoveryLimit = kind?.recoveryLimit ?? client.recoveryMaxPublicationLimit;
    // A subscriber that was sent more at once would be cut as slow, come back, and be sent the same again (rule R4).
    this.#recoveryBytesMax = client.queueMaxSizeBytes - limits.answerRestBytes;
    this.#pageBytesMax = client.queueMaxSizeBytes / 2;
    this.#accepted = setup.accepted;
    const opened = openStream(setup, kind);
    this.#history = opened.history;
    this.#idempotency = opened.idempotency;
    this.store = opened.store;
    const checks = {
      intervalMs: setup.followersCheckMs ?? Math.max(opened.options.metaTtlMs, checkIntervalMinMs),
      history: this.#history,
    };
    this.#registry = new GatewayRegistry(setup.sql, checks, opened.tables);
    // After a clock was set back this could seem older than the instance before, and gateways would drop its entries.
    const beforeMs = Math.max(this.#history.newestMs ?? 0, this.#registry.newestMs);
    this.relay = new Relay({
      ...setup,
      channel: name,
      instance: Math.max(setup.instance, beforeMs + 1),
      registry: this.#registry,
      hasHistory: this.#history.enabled && opened.isStored,
    });
    this.#gatewaysCounted = this.relay.size;
    this.keys = opened.keys?.begin({
      channel: this,
      history: this.#history,
      publications: this.store,
      counts: setup.counts,
    });
    this.parts = setup.features?.partsOf(this, { ...setup, tables: opened.tables }) ?? [];
    this.#accepting = this.parts.filter((part) => "accepted" in part);
    this.gate = this.parts.find((part) => "whenReadable" in part);
    this.decide = this.parts.find(({ decide }) => decide !== undefined)?.decide;
  }

  get hasHistory(): boolean {
    return this.#history.enabled;
  }

  /** The position of the newest publication; undefined without a stream. Never makes a stream. */
  get top(): StreamPosition | undefined {
    return this.#history.top;
  }

  topAt(nowMs: number): StreamPosition | undefined {
    this.deleteExpired(nowMs);
    return this.top;
  }

  /** The publication at the top, whether or not it may still be read; undefined if its row was deleted. */
  get newest(): Publication | undefined {
    return this.#history.newest;
  }

  /** When the newest publication came, or the stream was made or emptied, ms since 1970; undefined without a stream. */
  get newestMs(): number | undefined {
    return this.#history.newestMs;
  }

  /** The publications that can be read, for those who ask for one. Never makes a stream. */
  get stored(): PartedChannel["stored"] {
    return this.#history;
  }

  /** The top; a channel with history that has no stream gets one. Undefined on a channel without history. */
  position(nowMs: number): StreamPosition | undefined {
    if (!this.#history.enabled) return undefined;
    this.deleteExpired(nowMs);
    return this.#history.position(nowMs);
  }

  /**
   * Publishes: assigns the offset, writes the row, and collects the publication for the subscribers here and on
   * gateways.
   *
   * @param info   the client that publishes; undefined for a backend
   * @param apiKey the name of the backend's API key; "" if it isn't known
   */
  publish(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
    apiKey = "",
  ): PublishOutcome {
    this.deleteExpired(nowMs);
    const suppression = this.store.suppressionOf(request, nowMs);
    if (suppression !== undefined) {
      const { counted, suppressed } = suppression;
      if (counted !== undefined && this.#counts !== undefined) this.#counts[counted].value++;
      return suppressed;
    }
    return this.#history.enabled && !request.skipHistory
      ? this.#publishWithHistory(request, info, nowMs, apiKey)
      : this.#publishWithoutHistory(request, info, nowMs);
  }

  /**
   * Reads the history.
   *
   * @param query    `limit` 0 asks for the position alone, a negative one for all publications
   * @param bytesMax the largest answer that the caller can take
   */
  history(query: HistoryQuery, nowMs: number, bytesMax?: number): HistoryOutcome {
    if (!this.#history.enabled || this.keys !== undefined) return { outcome: "not-available" };
    return this.readStream(query, nowMs, bytesMax);
  }

  /** The same for the feature that keeps the keys. */
  readStream(
    query: HistoryQuery,
    nowMs: number,
    bytesMax: number = limits.answerBytesMax,
  ): HistoryOutcome {
    this.deleteExpired(nowMs);
    const position = this.#history.position(nowMs);
    const { since, reverse } = query;
    if (since !== undefined && since.epoch !== "" && since.epoch !== position.epoch) {
      return { outcome: "unrecoverable-position" };
    }
    const limit = query.limit < 0 ? limits.historySizeMax : query.limit;
    const range: HistoryRange = {
      limit,
      reverse,
      ...(since === undefined ? {} : { sinceOffset: since.offset }),
    };
    const read = this.#history.read(range, bytesMax, nowMs);
    if (read.outcome === "too-large") return read;
    return { outcome: "history", publications: read.publications, position };
  }

  /** Deletes the publications and keeps the position (rule H10). */
  removeHistory(nowMs: number): "removed" | "not-available" {
    if (!this.#history.enabled || this.keys !== undefined) return "not-available";
    this.deleteExpired(nowMs);
    if (this.#history.epoch === undefined) return "removed";
    this.store.remove(nowMs);
    this.relay.append({ type: "removed" }, this.top);
    return "removed";
  }

  /**
   * Recovers the publications that a subscriber at a position has missed (rules R1 to R4).
   *
   * @param mode     as in {@link SubscribeOptions}
   * @param bytesMax the most that the caller can take, if that is less than a client can
   * @returns undefined on a channel without history
   */
  recover(
    since: StreamPosition,
    mode: SubscribeOptions["mode"],
    nowMs: number,
    bytesMax = this.#recoveryBytesMax,
  ): (Recovery & { readonly position: StreamPosition }) | undefined {
    const position = this.position(nowMs);
    if (position === undefined) return undefined;
    const limit = this.#recoveryLimit;
    const range: HistoryRange =
      mode === "cache"
        ? { limit: 1, reverse: true }
        : { limit, reverse: false, sinceOffset: since.offset };
    const read = this.#history.read(range, Math.min(bytesMax, this.#recoveryBytesMax), nowMs);
    const found = read.outcome === "read" ? read.publications : undefined;
    const recovery =
      mode === "cache"
        ? recoverNewest(since, position, found?.[0])
        : recover(since, position, found, limit);
    return { ...recovery, position };
  }

  /**
   * Recovers publications that a gateway at a position has missed: the oldest ones, as many as the gateway can pass on
   * at once without its subscribers being cut as slow, and at least one (rule L3).
   *
   * @param bytesMax the most that the caller can take, if that is less
   * @returns undefined on a channel without history
   */
  recoverPage(
    since: StreamPosition,
    nowMs: number,
    bytesMax: number,
  ): (Recovery & { readonly position: StreamPosition }) | undefined {
    const position = this.position(nowMs);
    if (position === undefined) return undefined;
    const eachBytes = pushBytes + this.name.length;
    const pageBytes = Math.min(bytesMax, this.#pageBytesMax);
    const page = this.#history.readPage(since.offset, pageBytes, eachBytes, nowMs);
    return { ...recoverPage(since, position, page), position };
  }

  /** Adds a subscriber. It receives every publication after the position of the outcome, and none before (rule O3). */
  subscribe(subscriber: Subscriber, options: SubscribeOptions, nowMs: number): SubscribeOutcome {
    const position = options.positioned ? this.position(nowMs) : undefined;
    if (position === undefined) {
      this.hub.add(subscriber);
      return { outcome: "subscribed", recovered: false, publications: [] };
    }
    const recovery =
      options.since === undefined ? undefined : this.recover(options.since, options.mode, nowMs);
    if (recovery?.outcome === "unrecoverable" && options.orFail) {
      return { outcome: "unrecoverable-position" };
    }
    this.hub.add(subscriber);
    return recovery?.outcome === "recovered"
      ? { outcome: "subscribed", position, recovered: true, publications: recovery.publications }
      : { outcome: "subscribed", position, recovered: false, publications: [] };
  }

  /** Removes a subscriber, and announces its leave if its join was announced (rule O5). */
  unsubscribe(subscriber: Subscriber): void {
    const wasSubscribed = this.hub.remove(subscriber);
    this.#wasHeld ||= wasSubscribed;
    if (wasSubscribed && subscriber.announced) this.announce("leave", subscriber.info);
  }

  /** Tells the subscribers, here and on gateways, that a client came or went: after all that happened before (rule F5). */
  announce(type: "join" | "leave", info: ClientInfo): void {
    for (const part of this.parts) if (part.announces?.(type, info) === false) return;
    this.hub.announce(type, info);
    this.relay.append({ type, info }, this.top);
  }

  /** Closes the user's other connections to the channel, here and on gateways: that of `client` stays (rule C10). */
  makeExclusive(user: string, client: string): void {
    this.hub.makeExclusive(user, client);
    this.relay.append({ type: "sole", user, client }, this.top);
  }

  /** Whether the channel has subscribers, here or on gateways. */
  get isHeld(): boolean {
    return this.hub.size > 0 || this.relay.size > 0;
  }

  /**
   * Notes at the end of an event whether the channel still has subscribers or gateways: an unused stream is kept for a
   * while from the time at which the last of them left (rule H12).
   */
  noteHolders(nowMs: number): void {
    this.keys?.checkClock(nowMs);
    this.#history.checkClock(nowMs);
    if (this.#wasHeld && !this.isHeld) this.#history.left(nowMs);
    if (this.#counts !== undefined && this.#gatewaysCounted !== this.relay.size) {
      this.#counts.gatewayChanges.value += Math.abs(this.relay.size - this.#gatewaysCounted);
      this.#gatewaysCounted = this.relay.size;
    }
    this.#wasHeld = this.isHeld;
  }

  /**
   * When to call {@link deleteExpired}, ms since 1970; undefined if there is nothing to wait for. A stream that has
   * ended but still has subscribers, here or on gateways, isn't waited for: it can be deleted once the last of them has
   * left.
   */
  cleanupDueAtMs(nowMs: number): number | undefined {
    const keysEnd = this.#idempotency.endsAtMs;
    const historyEnd = this.#history.endsAtMs;
    const ended = historyEnd !== undefined && historyEnd <= nowMs;
    const followed = ended && (this.hub.size > 0 || this.relay.isFollowed(historyEnd));
    const stays = followed || (ended && this.keys?.isEmpty === false);
    const dueMs = Math.min(
      keysEnd ?? Number.POSITIVE_INFINITY,
      (stays ? undefined : historyEnd) ?? Number.POSITIVE_INFINITY,
      this.keys?.dueAtMs ?? Number.POSITIVE_INFINITY,
    );
    return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs;
  }

  /** Whether nothing is stored for the channel. */
  get storesNothing(): boolean {
    const { endsAtMs } = this.#history;
    return (
      endsAtMs === undefined &&
      this.#idempotency.endsAtMs === undefined &&
      this.#registry.size === 0
    );
  }

  /**
   * Deletes keys and streams that have ended. A stream stays while it has subscribers, because they hold positions in
   * it (rule H6). A gateway may have no subscriber any more, and says so when it is checked; a later call then deletes
   * the stream.
   */
  deleteExpired(nowMs: number): void {
    this.keys?.tellLoss(nowMs);
    if (nowMs >= (this.#idempotency.endsAtMs ?? Infinity)) this.#idempotency.forget();
    const historyEnds = this.#history.endsAtMs;
    if (historyEnds === undefined || nowMs < historyEnds || this.hub.size > 0) return;
    this.relay.checkFollowers(historyEnds);
    if (this.relay.size > 0 || this.keys?.isEmpty === false) return;
    this.store.forget(nowMs, () => this.keys?.forget());
    // No gateway is called. But the entry takes a number, so that a late call can't take a gateway back to this stream
    // (rule L1).
    this.relay.append({ type: "removed" }, undefined);
  }

  /** See {@link KeyedChannel}: tells the subscribers, here and on gateways. */
  restart(nowMs: number, renewed?: () => void): void {
    if (renewed !== undefined) this.store.renew(nowMs, renewed);
    else this.store.forget(nowMs, () => this.#history.position(nowMs));
    this.relay.append({ type: "removed" }, this.top);
    this.hub.insufficientState();
  }

  /** Collects a piece by which a value has grown, and which is not durable yet (rule Z39). */
  grow(piece: Piece): void {
    this.hub.grow(piece);
    this.relay.append({ type: "piece", piece }, this.top);
  }

  #publishWithoutHistory(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
  ): PublishOutcome {
    const key = request.idempotencyKey;
    if (key !== "") {
      if (!this.#idempotency.hasRoom(nowMs)) return { outcome: "too-many-keys" };
      this.#idempotency.retain(key, { offset: 0, epoch: "" }, nowMs, nowMs);
    }
    this.#collect(livePublication(request, info, undefined, this.options));
    this.#tellAccepted(entryOf(request, info), undefined, nowMs);
    return { outcome: "published" };
  }

  #publishWithHistory(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
    apiKey: string,
  ): PublishOutcome {
    const entry = entryOf(request, info);
    const position = this.store.append(entry, nowMs);
    if (position === undefined) return { outcome: "too-many-keys" };
    const publication = livePublication(request, info, position, this.options);
    this.published(publication, entry, position, { info, apiKey, nowMs });
    return { outcome: "published", position };
  }

  /** Collects a publication whose row was written: one of {@link publish}, or a change of the map. */
  published(
    publication: Publication,
    entry: HistoryEntry,
    position: StreamPosition,
    { info, apiKey, nowMs }: Changer,
  ): void {
    this.#collect(publication);
    this.#publications?.published(position.offset, this.relay.sequence, info, apiKey, nowMs);
    this.#tellAccepted(entry, position, nowMs);
  }

  #tellAccepted(entry: AcceptedEntry, position: StreamPosition | undefined, nowMs: number): void {
    this.#accepted?.(entry, position, nowMs);
    for (const part of this.#accepting) part.accepted?.(entry, nowMs);
  }

  #collect(publication: Publication): void {
    if (this.#counts !== undefined) this.#counts.published.value++;
    this.hub.publish(publication);
    this.relay.append({ type: "publication", publication }, this.top);
  }
}

/** The bytes of a push besides the publication and the channel's name. */
const pushBytes = 64;

/** A check wakes two objects and costs a row, so gateways aren't checked more often, however soon streams end. */
const checkIntervalMinMs = 600_000;
