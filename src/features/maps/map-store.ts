import { mapLimits } from "./limits.ts";
import { type CheckpointHeader, MapCheckpoint } from "./checkpoint.ts";
import type { MapEntry, MapState } from "./map-state.ts";
import { entryBytes, StateMemory } from "./state-memory.ts";
import { StateTable } from "./state-table.ts";
import { WindowMark } from "./growth/window-mark.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import type { Sql } from "../../sql.ts";
import type { MapOptions } from "./config.ts";
import type { StoredTable } from "../../channel/stored-tables.ts";
import type { Stream } from "../../channel/history-table.ts";
import type { StreamMemory } from "../../channel/keyed-stream.ts";
import { MemoryHistory } from "./memory-history.ts";

/**
 * Opens the store of a map.
 *
 * @param tables those that exist, apart from those of another kind of channel
 */
export function mapStoreOf(map: MapOptions, sql: Sql, tables: ReadonlySet<StoredTable>): MapStore {
  return map.mode === "ephemeral"
    ? new EphemeralMap(sql, tables)
    : new StoredMap(sql, tables, map.keyTtlMs);
}

/** Where the keys of a map are, and what has to be done so that they survive hibernation. */
export interface MapStore {
  /** An ephemeral map's is read from its checkpoint when it is first asked for. */
  readonly state: MapState;
  /** Whether the map had no key when the instance began. */
  readonly isNew: boolean;
  /** Where the changes are, and the stream before them, if they are in memory; undefined if they are stored. */
  readonly memory: StreamMemory | undefined;
  /** The mark of pieces that aren't durable; undefined if subscribers never get such pieces. */
  readonly windowMark: WindowMark | undefined;
  /** Whether the instance before this one ended before it wrote its state down. */
  readonly wasLost: boolean;
  /** Whether no key is known. An ephemeral map that waits in its checkpoint counts as one that has keys. */
  readonly isEmpty: boolean;
  /** When a key ends, or has to be looked for, ms since 1970; undefined for never. */
  readonly dueMs: number | undefined;
  /** Whether an entry may be written. */
  hasRoom(entry: Omit<MapEntry, "offset">): boolean;
  /** Something is about to be changed. */
  changing(nowMs: number): void;
  /**
   * Writes down what is in memory alone.
   *
   * @param newestMs when the newest change of the stream came, ms since 1970; undefined if none did
   */
  rest(position: StreamPosition, newestMs: number | undefined, nowMs: number): void;
  /** In how many ms {@link rest} is to be called; undefined if it needn't be. */
  restInMs(nowMs: number): number | undefined;
  /** Deletes everything. */
  forget(): void;
}

/** The store of a recoverable or a persistent map: every change is in its rows at once. */
class StoredMap implements MapStore {
  readonly state: StateTable;
  readonly isNew: boolean;
  readonly memory = undefined;
  readonly windowMark: WindowMark;
  readonly wasLost = false;

  /**
   * @param tables   those that exist
   * @param keyTtlMs how long keys live; 0: until they are removed
   */
  constructor(sql: Sql, tables: ReadonlySet<StoredTable>, keyTtlMs: number) {
    this.isNew = !tables.has("map_state");
    this.state = new StateTable(sql, !this.isNew);
    this.windowMark = new WindowMark(sql, tables.has("map_window"));
    // The keys were set while keys lived for ever: those that have to end now are looked for at once.
    if (keyTtlMs > 0 && this.state.dueMs === undefined && !this.state.isEmpty)
      this.state.noteDue(0);
  }

  get isEmpty(): boolean {
    return this.state.isEmpty;
  }

  get dueMs(): number | undefined {
    return this.state.dueMs;
  }

  hasRoom(): boolean {
    return true;
  }

  changing(): void {
    // A change is written where it is made.
  }

  rest(): void {
    // Everything is in rows.
  }

  restInMs(): undefined {
    return undefined;
  }

  forget(): void {
    this.state.clear();
  }
}

/** The store of an ephemeral map: in memory, and in a checkpoint while the channel is quiet (rule Z11). */
class EphemeralMap implements MapStore {
  readonly isNew: boolean;
  readonly memory: StreamMemory;
  readonly windowMark = undefined;
  readonly #checkpoint: MapCheckpoint;
  readonly #entries = new StateMemory();
  /** Whether the entries of the checkpoint are in memory. */
  #loaded = false;
  /**
   * When something was changed last, or was looked for to be changed, that isn't written down, ms since 1970; undefined
   * if everything is.
   */
  #changedMs: number | undefined;

  /** @param tables those that exist */
  constructor(sql: Sql, tables: ReadonlySet<StoredTable>) {
    this.#checkpoint = new MapCheckpoint(sql, tables.has("map_checkpoint"));
    this.isNew = this.#checkpoint.header === undefined;
    this.#entries.noteDue(this.#checkpoint.header?.dueMs);
    const stream = streamOf(this.#checkpoint.header);
    this.memory = { rows: new MemoryHistory(), ...(stream === undefined ? {} : { stream }) };
  }

  get wasLost(): boolean {
    return this.#checkpoint.wasLost;
  }

  get state(): MapState {
    if (!this.#loaded) {
      this.#loaded = true;
      for (const entry of this.#checkpoint.read()) this.#entries.write(entry);
    }
    return this.#entries;
  }

  get isEmpty(): boolean {
    return this.state.isEmpty;
  }

  get dueMs(): number | undefined {
    return this.#entries.dueMs;
  }

  hasRoom(entry: Omit<MapEntry, "offset">): boolean {
    const before = this.state.read(entry.key);
    const beforeBytes = before === undefined ? 0 : entryBytes(before);
    const bytes = this.#entries.bytes - beforeBytes + entryBytes({ ...entry, offset: 0 });
    return bytes <= mapLimits.ephemeralStateBytesMax;
  }

  changing(nowMs: number): void {
    if (this.#changedMs === undefined) {
      // The entries are read before the checkpoint is taken out.
      void this.state;
      this.#checkpoint.takeOut(nowMs);
    }
    this.#changedMs = nowMs;
  }

  rest(position: StreamPosition, newestMs: number | undefined, nowMs: number): void {
    if (this.restInMs(nowMs) !== 0 || this.#changedMs === undefined) return;
    const { dueMs } = this.#entries;
    this.#checkpoint.write(
      {
        epoch: position.epoch,
        top: position.offset,
        timeMs: newestMs ?? this.#changedMs,
        ...(dueMs === undefined ? {} : { dueMs }),
      },
      this.#entries.all,
    );
    this.#changedMs = undefined;
  }

  restInMs(nowMs: number): number | undefined {
    if (this.#changedMs === undefined) return undefined;
    return Math.min(
      Math.max(0, this.#changedMs + mapLimits.mapRestMs - nowMs),
      mapLimits.mapRestMs,
    );
  }

  forget(): void {
    this.#entries.clear();
    this.#loaded = true;
    this.#changedMs = undefined;
    this.#checkpoint.drop();
  }
}

/** The stream of a checkpoint, without its changes. */
function streamOf(header: CheckpointHeader | undefined): Stream | undefined {
  if (header === undefined) return undefined;
  const { epoch, top, timeMs } = header;
  return { epoch, top, floor: top + 1, timeMs, version: 0n, versionEpoch: "" };
}
