import { payloadLength } from "../../protocol/payload.ts";
import type { KeyCounts, KeyHead, KnownKey, MapEntry, MapState } from "./map-state.ts";

/**
 * The state of an ephemeral map, in the memory of its object (rule Z11). The keys are kept sorted, in the order of their
 * UTF-16 units, so that a page costs the same wherever it begins.
 */
export class StateMemory implements MapState {
  readonly #entries = new Map<string, MapEntry>();
  readonly #sorted: string[] = [];
  #removed = 0;
  #bytes = 0;
  #dueMs: number | undefined;

  /** The bytes of all keys and values. */
  get bytes(): number {
    return this.#bytes;
  }

  /** All entries, removed ones included, in the order of the keys. */
  get all(): Iterable<MapEntry> {
    return this.#entries.values();
  }

  known(key: string): KnownKey | undefined {
    return this.#entries.get(key);
  }

  read(key: string): MapEntry | undefined {
    const entry = this.#entries.get(key);
    return entry?.isRemoved === false ? entry : undefined;
  }

  write(entry: MapEntry): void {
    const before = this.#entries.get(entry.key);
    if (before === undefined) this.#sorted.splice(this.#indexAfter(entry.key), 0, entry.key);
    else this.#uncount(before);
    this.#entries.set(entry.key, entry);
    this.#bytes += entryBytes(entry);
    if (entry.isRemoved) this.#removed++;
  }

  delete(key: string): void {
    const before = this.#entries.get(key);
    if (before === undefined) return;
    this.#uncount(before);
    this.#entries.delete(key);
    this.#sorted.splice(this.#indexAfter(key) - 1, 1);
  }

  heads(after: string, count: number): readonly KeyHead[] {
    const start = after === "" ? 0 : this.#indexAfter(after);
    return this.#at(start, start + count).map(headOf);
  }

  entries(after: string, until: string, offsetMax: number): readonly MapEntry[] {
    const start = after === "" ? 0 : this.#indexAfter(after);
    const all = this.#at(start, this.#indexAfter(until));
    return all.filter(({ isRemoved, offset }) => !isRemoved && offset <= offsetMax);
  }

  count(): KeyCounts {
    return { keys: this.#entries.size - this.#removed, removed: this.#removed };
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  clear(): void {
    this.#entries.clear();
    this.#sorted.length = 0;
    this.#removed = 0;
    this.#bytes = 0;
    this.#dueMs = undefined;
  }

  get dueMs(): number | undefined {
    return this.#dueMs;
  }

  noteDue(dueMs: number | undefined): void {
    this.#dueMs = dueMs;
  }

  #uncount(entry: MapEntry): void {
    this.#bytes -= entryBytes(entry);
    if (entry.isRemoved) this.#removed--;
  }

  #at(start: number, end: number): readonly MapEntry[] {
    const entries: MapEntry[] = [];
    for (const key of this.#sorted.slice(start, end)) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  /** The index of the first key after this one. */
  #indexAfter(key: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? "") <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function headOf(entry: MapEntry): KeyHead {
  const { key, offset, timeMs, isRemoved, endsMs } = entry;
  const ends = endsMs === undefined ? {} : { endsMs };
  return { key, offset, timeMs, isRemoved, ...ends, bytes: entryBytes(entry) };
}

/** The bytes that an entry takes, estimated: those of its texts, and a constant for the rest. */
export function entryBytes({ key, data, tags, info }: MapEntry): number {
  const tagsBytes = tags === undefined ? 0 : JSON.stringify(tags).length;
  const infoBytes = (info?.connInfo?.length ?? 0) + (info?.chanInfo?.length ?? 0);
  return overheadBytes + key.length + payloadLength(data) + tagsBytes + infoBytes;
}

/** The JavaScript objects of an entry. */
const overheadBytes = 256;
