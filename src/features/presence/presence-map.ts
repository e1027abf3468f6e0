import type { PresenceChange, PresenceToldReply } from "./presence-call.ts";
import { plainMapPublish, removalOf } from "../maps/map-call.ts";
import type { ChannelPart } from "../../channel/channel-part.ts";
import type { ChannelOperation } from "../../contract/channel-call.ts";
import type { ChannelPresenceReply, RelayRequest } from "../../contract/relay-request.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { noPayload } from "../../protocol/payload.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import type { ChannelMap } from "../maps/channel-map.ts";
import type { PresenceChannel } from "./presence-channels.ts";
import { dueMoment, elapsed } from "../../moment.ts";

/**
 * The keys of a presence map: the clients that are subscribed to another channel, or their users (rules Z21 to Z24,
 * Z27, Z28 and Z35 to Z37). The truth is a census: the other channel's object lists them. One is made before the first
 * page is read, and twice within each `key_ttl` while somebody is subscribed to the map; in between, the other
 * channel's object tells who comes and goes.
 *
 * ```text
 * first page ─► census ─► slices ─► page      told ─► here: set · away: remove
 *     alarm ───────┘  what is told meanwhile is newer than the list
 * ```
 *
 * A client that isn't found any more is removed, if all gateways have answered. A user, or a client where a gateway hasn't
 * answered, is removed `key_ttl` after the first census that didn't find it. While nobody looks, nothing is counted, and
 * the keys are forgotten.
 */
export class PresenceMap implements ChannelPart {
  /** The channel whose subscribers the map shows. */
  readonly shown: PresenceChannel;
  readonly #map: ChannelMap;
  readonly #keyTtlMs: number;
  readonly #isHeld: () => boolean;
  readonly #sliceClients: number;
  /** When the last census ended, ms since 1970; undefined before this instance's first. */
  #countedMs: number | undefined;
  /** When the next census is due while somebody is subscribed, ms since 1970. */
  #nextMs: number;
  #census: MapCensus | undefined;
  #waiting: PresenceDone[] = [];

  /** @param setup `isHeld` says whether the map has subscribers, here or on gateways */
  constructor(map: ChannelMap, setup: PresenceMapSetup) {
    this.shown = setup.shown;
    this.#map = map;
    this.#keyTtlMs = setup.keyTtlMs;
    this.#isHeld = setup.isHeld;
    this.#sliceClients = setup.sliceClients ?? limits.presenceSliceClients;
    this.#nextMs = setup.nowMs + this.#intervalMs;
  }

  /** Waits if one of the calls reads the map from its beginning, which has to be as new as the call. */
  whenReadable(
    calls: readonly (ChannelOperation | RelayRequest)[],
    nowMs: number,
    done: PresenceDone,
  ): void {
    if (calls.some(readsKeys)) this.ready(nowMs, done);
    else done("ready");
  }

  /**
   * Calls `done` once the keys may be read: at once, or after a census.
   *
   * @param done "failed" if the other channel's object didn't answer
   */
  ready(nowMs: number, done: PresenceDone): void {
    if (this.#census === undefined && this.#isFresh(nowMs)) done("ready");
    else this.#waiting.push(done);
  }

  /** Whether to ask the other channel's object now. The answer is for {@link listed}, once. */
  begins(nowMs: number): boolean {
    if (this.#census !== undefined) return false;
    const isDue = this.#isHeld() && nowMs >= this.#nextAtMs(nowMs);
    if (!isDue && this.#waiting.length === 0) return false;
    this.#census = new MapCensus();
    this.#nextMs = nowMs + this.#intervalMs;
    return true;
  }

  /**
   * Takes the list of a census. If there is one, {@link slice} has to be called until it is over.
   *
   * @param reply undefined if the other channel's object didn't answer in time
   * @returns whether there is one
   */
  listed(reply: ChannelPresenceReply | undefined, nowMs: number): boolean {
    if (reply?.outcome === "present") {
      this.#census?.list(reply.clients, reply.complete);
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

  /** Takes what the other channel's object tells. It is left alone while nobody looks. */
  told(changes: readonly PresenceChange[], nowMs: number): PresenceToldReply {
    if (!this.#isHeld() && this.#census === undefined && !this.#isFresh(nowMs))
      return { outcome: "left" };
    for (const { type, info } of changes) {
      const key = this.#keyOf(info);
      if (key === undefined) continue;
      this.#census?.told.add(key);
      if (type === "here") this.#show(key, info, nowMs);
      else this.#hide(key, nowMs);
    }
    return { outcome: "taken" };
  }

  /** The object's alarm rings: counts, or forgets the keys if nobody has looked since the last census. */
  ring(nowMs: number): void {
    if (this.#census !== undefined || this.#waiting.length > 0) return;
    // An instance that an alarm wakes doesn't know when the last census was.
    if (this.#isHeld()) this.#nextMs = this.#countedMs === undefined ? nowMs : this.#nextMs;
    else if (!this.#isFresh(nowMs) && !this.#map.isEmpty) this.#map.clear(nowMs);
  }

  /** When the alarm has to ring, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    if (this.#isHeld()) return this.#nextAtMs(nowMs);
    if (this.#map.isEmpty) return Number.POSITIVE_INFINITY;
    // The keys are fresh for a while from the end of the census on, and the next one is due by its beginning.
    const freshMs = (this.#countedMs ?? 0) + this.#intervalMs;
    return Math.max(this.#nextAtMs(nowMs), dueMoment(freshMs, this.#intervalMs, nowMs));
  }

  #nextAtMs(nowMs: number): number {
    return dueMoment(this.#nextMs, this.#intervalMs, nowMs);
  }

  get #intervalMs(): number {
    return this.#keyTtlMs / 2;
  }

  /** Whether the keys are those of a census that isn't old, and of what was told since. */
  #isFresh(nowMs: number): boolean {
    return this.#countedMs !== undefined && !elapsed(this.#countedMs, this.#intervalMs, nowMs);
  }

  #showNext(census: MapCensus, nowMs: number): void {
    for (const info of census.next(this.#sliceClients)) {
      const key = this.#keyOf(info);
      if (key === undefined) continue;
      census.found.add(key);
      if (!census.told.has(key)) this.#show(key, info, nowMs);
    }
  }

  /** @returns whether there were further keys */
  #hideNext(census: MapCensus, nowMs: number): boolean {
    const keys = this.#map.keysAfter(census.after, this.#sliceClients);
    for (const key of keys) {
      census.after = key;
      if (census.found.has(key) || census.told.has(key)) continue;
      if (this.shown.kind === "clients" && census.isComplete) this.#hide(key, nowMs);
      else if (this.#map.entry(key)?.endsMs === undefined)
        this.#map.endAt(key, nowMs + this.#keyTtlMs, nowMs);
    }
    return keys.length > 0;
  }

  /** The key of a client; undefined if it has none. An anonymous user has none in a map of users. */
  #keyOf({ client, user }: ClientInfo): string | undefined {
    const key = this.shown.kind === "clients" ? client : user;
    return key !== "" && utf8Fits(key, limits.mapKeyBytesMax) ? key : undefined;
  }

  /** Sets a key, if that changes anything. In a map that is full it does nothing (rule Z24). */
  #show(key: string, info: ClientInfo, nowMs: number): void {
    const shown = this.shown.kind === "clients" ? info : undefined;
    const entry = this.#map.entry(key);
    if (entry !== undefined && isSame(entry.info, shown)) this.#map.endAt(key, undefined, nowMs);
    else {
      const request = plainMapPublish(key, noPayload());
      this.#map.change({ method: "map_publish", request }, shown, nowMs);
    }
  }

  #hide(key: string, nowMs: number): void {
    if (this.#map.entry(key) === undefined) return;
    this.#map.change(removalOf({ client: key, user: "" }), undefined, nowMs);
  }

  #end(outcome: "ready" | "failed"): void {
    this.#census = undefined;
    for (const done of this.#waiting.splice(0)) done(outcome);
  }
}

interface PresenceMapSetup {
  readonly shown: PresenceChannel;
  readonly keyTtlMs: number;
  readonly isHeld: () => boolean;
  readonly nowMs: number;
  /** The clients of a slice of a census; absent for the usual number. */
  readonly sliceClients?: number;
}

/** Whether a backend reads a map, or a client its first page. */
function readsKeys(call: ChannelOperation | RelayRequest): boolean {
  if (call.method === "map_state") return call.request.since === undefined;
  return call.method === "map_read_state" || call.method === "map_stats";
}

type PresenceDone = (outcome: "ready" | "failed") => void;

/** One census, from the question to its last slice. */
class MapCensus {
  /** The keys of whom something was told since the question: that is newer than the list. */
  readonly told = new Set<string>();
  readonly found = new Set<string>();
  /** The last key that was looked for among those that were found. */
  after = "";
  isComplete = false;
  #clients: readonly ClientInfo[] = [];
  #at = 0;

  list(clients: readonly ClientInfo[], isComplete: boolean): void {
    this.#clients = clients;
    this.isComplete = isComplete;
  }

  get isListed(): boolean {
    return this.#at >= this.#clients.length;
  }

  next(most: number): readonly ClientInfo[] {
    const part = this.#clients.slice(this.#at, this.#at + most);
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
