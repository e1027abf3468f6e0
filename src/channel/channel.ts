import type { PublicationRequest } from "../contract/channel-call.ts";
import type { ChannelOptions, ClientConfig } from "../config/config.ts";
import { Hub } from "../hub/hub.ts";
import type { Subscriber } from "../hub/subscriber.ts";
import { limits } from "../limits.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import { GatewayRegistry } from "./gateway-registry.ts";
import { Relay } from "./relay.ts";
import { History, type HistoryRange } from "./history.ts";
import { Idempotency } from "./idempotency.ts";
import { livePublication } from "./publication-request.ts";
import { recover, recoverNewest, recoverPage, type Recovery } from "./recovery.ts";
import type { Sql } from "../sql.ts";
import type { HistoryEntry } from "./history-table.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";

/** What a channel is made of; the ports are the platform's, the rest is configuration. */
export interface ChannelSetup {
  readonly name: string;
  readonly options: ChannelOptions;
  readonly client: ClientConfig;
  readonly sql: Sql;
  readonly newEpoch: () => string;
  /** When this instance of the channel's object began, ms since 1970. */
  readonly instance: number;
  readonly nowMs: number;
}

export type PublishOutcome =
  /** Accepted; the position is absent when it went without history. */
  | { readonly outcome: "published"; readonly position?: StreamPosition }
  /** Its idempotency key was published before, or its version isn't newer: nothing was done. */
  | { readonly outcome: "suppressed"; readonly position?: StreamPosition }
  /** Nothing was done; the same publish may succeed a little later. */
  | { readonly outcome: "too-many-keys" };

export type HistoryOutcome =
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | { readonly outcome: "not-available" }
  | { readonly outcome: "unrecoverable-position" }
  | { readonly outcome: "too-large" };

export type SubscribeOutcome =
  | {
      readonly outcome: "subscribed";
      /** Absent when the subscription has no position to keep. */
      readonly position?: StreamPosition;
      readonly recovered: boolean;
      readonly publications: readonly Publication[];
    }
  | { readonly outcome: "unrecoverable-position" };

/** How a subscriber wants to take up the stream. */
export interface SubscribeOptions {
  /** Whether the subscription keeps a position at all. */
  readonly positioned: boolean;
  /** Where the subscriber was; absent when it recovers nothing. */
  readonly since?: StreamPosition;
  /** stream: everything it missed. cache: the newest publication, unless it has that already (docs/protocol.md 2.4). */
  readonly mode: "stream" | "cache";
  /** Refuse instead of joining without what was missed. */
  readonly orFail: boolean;
}

/**
 * One channel: its order, its history and who listens (rules O1 to O4). Everything here is synchronous, so that
 * assigning an offset, writing the row and sending the frames is one stretch that nothing can come between.
 */
export class Channel {
  readonly name: string;
  readonly options: ChannelOptions;
  /** Who listens here. */
  readonly hub: Hub;
  /** Who listens elsewhere. */
  readonly relay: Relay;
  readonly #recoveryLimit: number;
  readonly #recoveryBytesMax: number;
  readonly #pageBytesMax: number;
  readonly #sql: Sql;
  readonly #history: History;
  readonly #idempotency: Idempotency;
  readonly #registry: GatewayRegistry;

  constructor(setup: ChannelSetup) {
    const { name, options, client, sql, newEpoch, nowMs } = setup;
    this.name = name;
    this.options = options;
    this.hub = new Hub(name, client.queueMaxSizeBytes);
    this.#recoveryLimit = client.recoveryMaxPublicationLimit;
    // A subscriber that was sent more at once would be cut as slow, come back, and be sent it again.
    this.#recoveryBytesMax = client.queueMaxSizeBytes - limits.answerRestBytes;
    this.#pageBytesMax = client.queueMaxSizeBytes / 2;
    this.#sql = sql;
    const { historySize: size, historyTtlMs: ttlMs, historyMetaTtlMs: metaTtlMs } = options;
    this.#history = new History(sql, { size, ttlMs, metaTtlMs }, newEpoch);
    this.#idempotency = new Idempotency(sql, this.#history, nowMs);
    // Keys of rows that go are spared first.
    this.#history.resize((offset, epoch) => this.#idempotency.releaseBelow(offset, epoch, nowMs));
    this.#registry = new GatewayRegistry(sql, Math.max(metaTtlMs, checkIntervalMinMs));
    // With a clock that was set back an instance could look older than the one before it, and gateways wouldn't believe it.
    const beforeMs = Math.max(this.#history.newestMs ?? 0, this.#registry.newestMs);
    this.relay = new Relay({
      channel: name,
      instance: Math.max(setup.instance, beforeMs + 1),
      registry: this.#registry,
      hasHistory: this.#history.enabled,
    });
  }

  get hasHistory(): boolean {
    return this.#history.enabled;
  }

  /** Where the stream stands; undefined when there is none. Never makes one. */
  get top(): StreamPosition | undefined {
    return this.#history.top;
  }

  /** What stands there, shown or not; undefined when nothing does. */
  get newest(): Publication | undefined {
    return this.#history.newest;
  }

  /** When the newest publication with history came, or the history was removed, ms since 1970; undefined without a stream. */
  get newestMs(): number | undefined {
    return this.#history.newestMs;
  }

  /** Where the stream stands; one that isn't there is made. Undefined on a channel without history. */
  position(nowMs: number): StreamPosition | undefined {
    if (!this.#history.enabled) return undefined;
    this.deleteExpired(nowMs);
    return this.#history.position(nowMs);
  }

  /** Publishes, and collects the frame; {@link Hub.settle} sends it, in the same stretch or a little later. */
  publish(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
  ): PublishOutcome {
    this.deleteExpired(nowMs);
    const key = request.idempotencyKey;
    const withHistory = this.#history.enabled && !request.skipHistory;
    if (key !== "") {
      const first = this.#idempotency.find(key, this.#history.epoch ?? "", nowMs, (offset) =>
        this.#history.isReadable(offset, nowMs),
      );
      if (first !== undefined) return { outcome: "suppressed", ...first };
    }
    if (!withHistory) return this.#publishWithoutHistory(request, info, nowMs);
    if (request.version > 0n) {
      const { version, versionEpoch } = this.#history.version;
      if (request.versionEpoch === versionEpoch && request.version <= version) {
        return { outcome: "suppressed", position: this.#history.position(nowMs) };
      }
    }
    return this.#publishWithHistory(request, info, nowMs);
  }

  /**
   * Reads the history; `limit` 0 asks for the position alone, a negative one for everything.
   *
   * @param bytesMax how large an answer the asker can take
   */
  history(
    query: { readonly since?: StreamPosition; readonly limit: number; readonly reverse: boolean },
    nowMs: number,
    bytesMax: number = limits.answerBytesMax,
  ): HistoryOutcome {
    if (!this.#history.enabled) return { outcome: "not-available" };
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

  /** Deletes the publications and keeps the position. */
  removeHistory(nowMs: number): "removed" | "not-available" {
    if (!this.#history.enabled) return "not-available";
    this.deleteExpired(nowMs);
    const epoch = this.#history.epoch;
    if (epoch === undefined) return "removed";
    this.#sql.transaction(() => {
      this.#idempotency.releaseBelow(Number.POSITIVE_INFINITY, epoch, nowMs);
      this.#history.remove(nowMs);
    });
    this.relay.add({ type: "removed" }, this.top);
    return "removed";
  }

  /**
   * What somebody missed who was at a position (rules R1 to R5).
   *
   * @param mode     as a {@link SubscribeOptions} has it
   * @param bytesMax how much the asker can take, if that is less than a client can
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
   * What a gateway missed that was at a position: the oldest of it, so much that it can pass it on at once without its
   * readers being cut as slow, and at least one publication (rule L3).
   *
   * @param bytesMax how much of it there may be, if that is less
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

  /** Makes somebody a subscriber. Every publication from the position on reaches it, and none before. */
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

  /** Ends somebody's subscription; the others hear of it after the call. */
  unsubscribe(subscriber: Subscriber): void {
    const wasSubscribed = this.hub.remove(subscriber);
    if (wasSubscribed && subscriber.announced) this.announce("leave", subscriber.info);
  }

  /** Tells everybody who wants to know that somebody came or went. */
  announce(type: "join" | "leave", info: ClientInfo): void {
    this.hub.announce(type, info);
    this.relay.add({ type, info }, this.top);
  }

  /** Of this user's connections on the channel this one wants to be the only one, wherever the others are (rule C10). */
  makeExclusive(user: string, client: string): void {
    this.hub.makeExclusive(user, client);
    this.relay.add({ type: "sole", user, client }, this.top);
  }

  /**
   * When {@link deleteExpired} is worth a call, ms since 1970; undefined when there is nothing to wait for. A stream that
   * has ended but still has listeners, here or on gateways, waits for the last of them, which is no matter of time.
   */
  cleanupDueAtMs(nowMs: number): number | undefined {
    const keysEnd = this.#idempotency.endsAtMs;
    const historyEnd = this.#history.endsAtMs;
    const ended = historyEnd !== undefined && historyEnd <= nowMs;
    const followed = ended && (this.hub.size > 0 || this.relay.isFollowed(historyEnd));
    const historyDue = followed ? undefined : historyEnd;
    if (keysEnd === undefined || historyDue === undefined) return keysEnd ?? historyDue;
    return Math.min(keysEnd, historyDue);
  }

  /** Whether nothing at all is stored. */
  get storesNothing(): boolean {
    const { endsAtMs } = this.#history;
    return (
      endsAtMs === undefined &&
      this.#idempotency.endsAtMs === undefined &&
      this.#registry.size === 0
    );
  }

  /**
   * Deletes what has ended. A stream goes only while nobody listens: a listener holds a position in it (rule H6). A gateway
   * may have no listener any more, and says so when it is asked; then the stream goes with the next call of this.
   */
  deleteExpired(nowMs: number): void {
    const keysEnd = this.#idempotency.endsAtMs;
    if (keysEnd !== undefined && nowMs >= keysEnd) this.#idempotency.forget();
    const historyEnds = this.#history.endsAtMs;
    if (historyEnds === undefined || nowMs < historyEnds || this.hub.size > 0) return;
    if (this.relay.size > 0) {
      this.relay.checkFollowers(historyEnds);
      return;
    }
    const epoch = this.#history.epoch ?? "";
    this.#sql.transaction(() => {
      this.#idempotency.releaseBelow(Number.POSITIVE_INFINITY, epoch, nowMs);
      this.#history.forget();
    });
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
    return { outcome: "published" };
  }

  #publishWithHistory(
    request: PublicationRequest,
    info: ClientInfo | undefined,
    nowMs: number,
  ): PublishOutcome {
    const entry = info === undefined ? request : { ...request, info };
    let position: StreamPosition;
    if (this.#idempotency.holdsYoungKey(this.#history.oldestRow, nowMs)) {
      if (!this.#idempotency.hasRoom(nowMs)) return { outcome: "too-many-keys" };
      position = this.#sql.transaction(() => this.#append(entry, nowMs));
    } else {
      position = this.#append(entry, nowMs);
    }
    if (request.idempotencyKey !== "") {
      this.#idempotency.addRingKey(request.idempotencyKey, position.offset, nowMs);
    }
    this.#collect(livePublication(request, info, position, this.options));
    return { outcome: "published", position };
  }

  #collect(publication: Publication): void {
    this.hub.publish(publication);
    this.relay.add({ type: "publication", publication }, this.top);
  }

  /** Takes the place of the oldest row, whose key may have to be spared. */
  #append(entry: HistoryEntry, nowMs: number): StreamPosition {
    this.#idempotency.release(this.#history.oldestRow, this.#history.epoch, nowMs);
    return this.#history.append(entry, nowMs);
  }
}

/** What a push takes besides the publication and the channel's name. */
const pushBytes = 64;

/** However short-lived a namespace's streams are: asking a gateway wakes two objects and costs a row. */
const checkIntervalMinMs = 600_000;

/** What a history that can't be read is answered with, to clients and backends alike. */
export function historyError(outcome: Exclude<HistoryOutcome["outcome"], "history">): ErrorCode {
  switch (outcome) {
    case "not-available":
      return errorCodes.notAvailable;
    case "unrecoverable-position":
      return errorCodes.unrecoverablePosition;
    case "too-large":
      return errorCodes.limitExceeded;
  }
}
