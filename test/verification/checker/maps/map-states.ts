import type { Complain } from "../violations.ts";
import type { MapEntryTold } from "./map-event.ts";
import type { MapRecord, SeenState } from "./map-record.ts";

/**
 * Compares every state that was seen of a map with the changes up to its offset (rule Z2): a client has exactly the keys
 * and values that the changes leave. Of a change that nobody was told of it is known only that some key changed, so keys
 * that weren't changed since aren't judged.
 *
 * @returns how many states were compared
 */
export function compareStates(record: MapRecord, complain: Complain): number {
  let compared = 0;
  for (const [epoch, changes] of record.epochs) {
    const seen = record.seen.filter((state) => state.epoch === epoch);
    seen.sort((one, other) => one.offset - other.offset);
    const replay = new Replay(changes);
    for (const state of seen) {
      replay.advance(state.offset, complain);
      replay.compare(state, complain);
      compared++;
    }
    const last = Math.max(0, ...changes.keys());
    replay.advance(last, complain);
  }
  return compared;
}

/** The changes of one epoch, carried out one after the other. */
class Replay {
  readonly #changes: ReadonlyMap<number, MapEntryTold>;
  readonly #values = new Map<string, string>();
  /** The offset of each key's last known change, removals included. */
  readonly #changedAt = new Map<string, number>();
  #offset = 0;
  /** The last offset of which nobody was told. */
  #unknownOffset = 0;

  constructor(changes: ReadonlyMap<number, MapEntryTold>) {
    this.#changes = changes;
  }

  advance(offset: number, complain: Complain): void {
    while (this.#offset < offset) {
      const change = this.#changes.get(++this.#offset);
      if (change === undefined) this.#unknownOffset = this.#offset;
      else this.#apply(change, complain);
    }
  }

  compare({ process, time, offset, values }: SeenState, complain: Complain): void {
    for (const [key, value] of this.#values) {
      if (!this.#isCertain(key)) continue;
      const seen = values.get(key)?.value;
      if (seen === undefined)
        complain("lost", process, time, `${process} lacks ${key} = ${value} at ${offset}`);
      else if (seen !== value) {
        const text = `${process} has ${key} = ${seen} at ${offset}, where it is ${value}`;
        complain("diverged", process, time, text);
      }
    }
    for (const [key, { value = "" }] of values) {
      if (this.#values.has(key) || !this.#isCertain(key)) continue;
      const wasThere = this.#changedAt.has(key);
      const text = `${process} has ${key} = ${value} at ${offset}, where the map hasn't the key`;
      complain(wasThere ? "resurrected" : "invented", process, time, text);
    }
  }

  #apply({ key, value }: MapEntryTold, complain: Complain): void {
    if (value === undefined && !this.#values.has(key) && this.#isCertain(key)) {
      const text = `${key} is removed at ${this.#offset} although the map hasn't the key`;
      complain("doubled", "", 0, text);
    }
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.#changedAt.set(key, this.#offset);
  }

  /** Whether no unknown change may have changed the key since its last known one. */
  #isCertain(key: string): boolean {
    return (this.#changedAt.get(key) ?? 0) >= this.#unknownOffset;
  }
}
