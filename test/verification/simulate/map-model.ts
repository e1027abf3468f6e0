import type { ChannelOptions } from "../../../src/config/config.ts";
import type { MapOptions } from "../../../src/features/maps/config.ts";
import type { MapChange, MapSuppression } from "../../../src/features/maps/map-call.ts";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import type { Publication, StreamPosition } from "../../../src/protocol/publication.ts";
import type { ModelEntry } from "./model-state.ts";
import type { Model } from "./model.ts";

/** What a map has to answer to a change. */
export interface MapAnswer {
  readonly outcome: "changed" | "suppressed";
  readonly position: StreamPosition;
  readonly reason?: MapSuppression;
  /** Of the key's last change before, where nothing was changed; 0 if the map hasn't the key. */
  readonly currentOffset?: number;
}

/** The options of a map as the model has them. The keys of a presence map end only when they are told to. */
export function modelledMap({ map, subscriptionType }: ChannelOptions): MapOptions | undefined {
  return map && (subscriptionType === "map" ? map : { ...map, keyTtlMs: 0 });
}

/** The reference model of a map: its keys are a JavaScript map, and its stream is that of a channel's model. */
export class MapModel {
  readonly #model: Model;
  readonly #options: MapOptions;

  constructor(model: Model, options: MapOptions) {
    this.#model = model;
    this.#options = options;
  }

  get entries(): ReadonlyMap<string, ModelEntry> {
    return this.#model.state.entries ?? none;
  }

  /** The keys that the map has, in their order. */
  get present(): readonly (readonly [string, ModelEntry & { readonly data: Payload }])[] {
    const all = [...this.entries].flatMap(([key, entry]) => {
      const { data } = entry;
      return data === undefined ? [] : [[key, { ...entry, data }] as const];
    });
    return all.sort(([one], [other]) => (one < other ? -1 : 1));
  }

  /** The top of the stream. */
  position(nowMs: number): StreamPosition {
    const { position } = this.#model.position(nowMs);
    if (position === undefined) throw new Error("a map has a position");
    return position;
  }

  /** Carries out a change. */
  change(change: MapChange, nowMs: number): MapAnswer {
    const { key, idempotencyKey, ifOffset } = change.request;
    const entry = this.entries.get(key);
    const isThere = entry?.data !== undefined;
    const currentOffset = isThere ? entry.offset : 0;
    const suppressed = (reason: MapSuppression, position?: StreamPosition): MapAnswer => ({
      outcome: "suppressed",
      reason,
      position: position ?? this.position(nowMs),
      currentOffset,
    });
    const first = this.#model.firstResult(idempotencyKey, nowMs);
    if (first !== undefined) return suppressed("idempotency", first.position);
    if (change.method === "map_publish") {
      const { version, versionEpoch, keyMode } = change.request;
      const isOld = entry?.versionEpoch === versionEpoch && version <= entry.version;
      if (version > 0n && isOld && entry.version > 0n) return suppressed("version");
      if (keyMode === "if_new" && isThere) return suppressed("key_exists");
      if (keyMode === "if_exists" && !isThere) return suppressed("key_not_found");
    } else if (!isThere) return suppressed("key_not_found");
    if (ifOffset !== undefined && ifOffset !== currentOffset)
      return suppressed("position_mismatch");
    const data = change.method === "map_publish" ? change.request.data : undefined;
    const position = this.#append(key, data, idempotencyKey, nowMs);
    const { version, versionEpoch } =
      change.method === "map_publish" && change.request.version > 0n
        ? change.request
        : (entry ?? unversioned);
    this.#put(key, { data, offset: position.offset, timeMs: nowMs, version, versionEpoch });
    return { outcome: "changed", position };
  }

  /**
   * A key has ended.
   *
   * @param isInOrder whether all keys that ended before it have to be gone
   * @returns what is wrong with that
   */
  expired(
    { key = "", offset, removed }: Publication,
    isInOrder: boolean,
    nowMs: number,
  ): string | undefined {
    const entry = this.entries.get(key);
    if (removed !== true || entry?.data === undefined)
      return `told of ${key} at ${offset} without a change`;
    const endMs = this.#endOf(entry);
    const earlier = this.present.find(([, other]) => this.#endOf(other) < endMs);
    const position = this.#append(key, undefined, "", nowMs);
    const { version, versionEpoch } = entry;
    this.#put(key, {
      data: undefined,
      offset: position.offset,
      timeMs: nowMs,
      version,
      versionEpoch,
    });
    if (position.offset !== offset) return `removed ${key} at ${offset}, not ${position.offset}`;
    if (nowMs < this.#dueOf(entry)) return `removed ${key} before its end`;
    return isInOrder && earlier !== undefined
      ? `removed ${key} before ${earlier[0]}, which ended earlier`
      : undefined;
  }

  /** A key of a presence map ends at a time, ms since 1970, or no more. */
  endAt(key: string, endsMs: number | undefined): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    const { endsMs: _, ...lasting } = entry;
    this.#put(key, endsMs === undefined ? lasting : { ...lasting, endsMs });
  }

  /** Whether a key has ended, so that its removal comes before any change of it. */
  hasEnded(key: string, nowMs: number): boolean {
    const entry = this.entries.get(key);
    if (entry?.data === undefined) return false;
    return this.#endOf(entry) <= nowMs;
  }

  /** Whether a key should be gone by now. */
  isOverdue(entry: ModelEntry, nowMs: number): boolean {
    return entry.data !== undefined && this.#dueOf(entry) + graceMs < nowMs;
  }

  /** Forgets everything: a new stream begins. */
  clear(nowMs: number): void {
    this.#model.state = { ...this.#model.state, stream: undefined, entries: none };
    this.position(nowMs);
  }

  /** An ephemeral map has written itself down, or is about to be changed after that. */
  noteCheckpoint(isWritten: boolean): void {
    const { state } = this.#model;
    const { stream, entries } = state;
    const checkpoint = isWritten
      ? { stream, ...(entries === undefined ? {} : { entries }) }
      : "out";
    this.#model.state = { ...state, checkpoint };
  }

  /**
   * The object's memory is gone.
   *
   * @returns whether the state was lost
   */
  wake(): boolean {
    if (this.#options.mode !== "ephemeral") return false;
    const { checkpoint } = this.#model.state;
    const isKept = typeof checkpoint === "object";
    const { stream, entries = none } = isKept ? checkpoint : { stream: undefined };
    const kept = stream === undefined ? undefined : { ...stream, publications: [] };
    this.#model.state = { stream: kept, keys: new Map(), entries, checkpoint };
    return checkpoint === "out";
  }

  #append(
    key: string,
    data: Payload | undefined,
    idempotencyKey: string,
    nowMs: number,
  ): StreamPosition {
    return this.#model.append({ key, data: data ?? emptyData }, idempotencyKey, nowMs);
  }

  #put(key: string, entry: ModelEntry): void {
    const entries = new Map(this.entries);
    // A removed key is remembered for its version alone.
    if (entry.data === undefined && entry.version === 0n) entries.delete(key);
    else entries.set(key, entry);
    this.#model.state = { ...this.#model.state, entries };
  }

  #endOf(entry: ModelEntry): number {
    const grainMs = mapLimits.mapExpiryGrainMs;
    return Math.ceil(this.#dueOf(entry) / grainMs) * grainMs;
  }

  #dueOf({ timeMs, endsMs }: ModelEntry): number {
    const ttlMs = this.#options.keyTtlMs || Number.POSITIVE_INFINITY;
    return endsMs ?? timeMs + ttlMs;
  }
}

const none: ReadonlyMap<string, ModelEntry> = new Map();

const unversioned = { version: 0n, versionEpoch: "" } as const;

/** The data of a removal. */
const emptyData: Payload = trustedJsonText("");

/** Longer than an alarm is late, and clocks are wrong. */
const graceMs = 60_000;
