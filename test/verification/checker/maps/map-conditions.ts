import type { Complain } from "../violations.ts";
import type { MapEntryTold } from "./map-event.ts";
import type { AskedChange, MapRecord } from "./map-record.ts";

/**
 * Carries out the changes of a map in their order, and looks whether each one was allowed to be made: its version was newer
 * than the key's, and its offset was the key's (rules Z7 to Z9). A removal that nobody asked for is the end of a key; keys
 * end in the order of their last changes, and not before their time (rule Z6).
 */
export function checkConditions(record: MapRecord, complain: Complain): void {
  const removals = new AskedRemovals(record);
  for (const [epoch, changes] of record.epochs) {
    const conditions = new Conditions(record, epoch, removals, complain);
    const last = Math.max(0, ...changes.keys());
    for (let offset = 1; offset <= last; offset++) conditions.take(offset, changes.get(offset));
  }
}

/** The changes of one epoch. */
class Conditions {
  readonly #record: MapRecord;
  readonly #epoch: string;
  readonly #removals: AskedRemovals;
  readonly #complain: Complain;
  readonly #keys = new Map<string, KeyAsIs>();
  /** The last offset of which nobody was told. */
  #unknownOffset = 0;
  /** The key that has ended last. */
  #ended: { readonly key: string; readonly offset: number } = { key: "", offset: 0 };

  constructor(record: MapRecord, epoch: string, removals: AskedRemovals, complain: Complain) {
    this.#record = record;
    this.#epoch = epoch;
    this.#removals = removals;
    this.#complain = complain;
  }

  /** @param change undefined if nobody was told of it */
  take(offset: number, change: MapEntryTold | undefined): void {
    if (change === undefined) {
      this.#unknownOffset = offset;
      return;
    }
    const { key, value } = change;
    const known = this.#keys.get(key) ?? unknown;
    const isCertain = known.offset >= this.#unknownOffset;
    const asked =
      value === undefined ? this.#removals.at(this.#epoch, offset) : this.#record.asked.get(value);
    if (asked !== undefined) {
      this.#checkVersion(offset, asked, known);
      this.#checkOffset(offset, asked, known, isCertain);
    }
    const isEnd = value === undefined && asked === undefined && !this.#removals.mayBeOf(key);
    if (isEnd && isCertain && known.isThere) this.#checkEnd(offset, key, known);
    this.#keys.set(key, {
      offset,
      isThere: value !== undefined,
      version: asked?.version ?? known.version,
      invokedTime: asked?.invokedTime,
    });
  }

  #checkVersion(offset: number, asked: AskedChange, { version }: KeyAsIs): void {
    if (asked.version === undefined || asked.version > version) return;
    const what = `${asked.key} = ${asked.value} of version ${asked.version}`;
    const text = `${what} is at ${offset} although the key had version ${version}`;
    this.#complain("resurrected", "", asked.invokedTime, text);
  }

  #checkOffset(
    offset: number,
    { key, value = "removed", ifOffset, invokedTime }: AskedChange,
    known: KeyAsIs,
    isCertain: boolean,
  ): void {
    if (ifOffset === undefined) return;
    const was = known.isThere ? known.offset : 0;
    // Of a key that may have been changed since, only that its offset isn't an earlier one is known.
    const isWrong = isCertain ? ifOffset !== was : ifOffset > 0 && ifOffset < known.offset;
    if (!isWrong) return;
    const text = `${key} = ${value} is at ${offset}, made if the key was at ${ifOffset}; it was at ${was}`;
    this.#complain("resurrected", "", invokedTime, text);
  }

  #checkEnd(offset: number, key: string, known: KeyAsIs): void {
    const { keyTtlMs } = this.#record;
    if (keyTtlMs === undefined) return;
    const { invokedTime } = known;
    const toldTime = this.#record.toldTime(this.#epoch, offset) ?? Infinity;
    const last = `${key}, last changed at ${known.offset},`;
    if (known.offset < this.#ended.offset) {
      const text = `${last} ended at ${offset}, after ${this.#ended.key} of ${this.#ended.offset}`;
      this.#complain("swapped", "", toldTime, text);
    } else this.#ended = { key, offset: known.offset };
    if (invokedTime === undefined || toldTime - invokedTime >= 1_000 * (keyTtlMs - toleranceMs))
      return;
    const ageMs = Math.round((toldTime - invokedTime) / 1_000);
    const text = `${last} ended at ${offset}, ${ageMs} ms after that was asked for`;
    this.#complain("lost", "", toldTime, text);
  }
}

/** The removals that somebody asked for. The other ones are ends. */
class AskedRemovals {
  readonly #placed = new Map<string, AskedChange>();
  readonly #unplacedKeys = new Set<string>();

  constructor({ asked }: MapRecord) {
    for (const change of asked.values()) {
      const { key, value, outcome, epoch, offset } = change;
      if (value !== undefined || outcome === "refused" || outcome === "suppressed") continue;
      if (offset === undefined) this.#unplacedKeys.add(key);
      else this.#placed.set(`${epoch}:${offset}`, change);
    }
  }

  at(epoch: string, offset: number): AskedChange | undefined {
    return this.#placed.get(`${epoch}:${offset}`);
  }

  /** Whether a removal of the key may be one of those whose places nobody was told. */
  mayBeOf(key: string): boolean {
    return this.#unplacedKeys.has(key);
  }
}

/** What is known of a key. */
interface KeyAsIs {
  /** Of its last known change. */
  readonly offset: number;
  readonly isThere: boolean;
  /** The newest version that it was set with; 0 for none. */
  readonly version: number;
  /** When its last change was asked for, µs. */
  readonly invokedTime: number | undefined;
}

const unknown: KeyAsIs = { offset: 0, isThere: false, version: 0, invokedTime: undefined };

/** How far the clock of the server may be from that of the history after a key's life. */
const toleranceMs = 250;
