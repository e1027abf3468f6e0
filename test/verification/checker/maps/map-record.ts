import { Records } from "../../../support/records.ts";
import type { MapEntryTold } from "./map-event.ts";

/** A client's copy of a map, as the official client keeps it. */
export class MapCopy {
  readonly process: string;
  /** The value of each key, and the offset of its last change where clients are told offsets. */
  readonly values = new Map<string, MapEntryTold>();
  isAttached = false;
  /** Whether the client doesn't want the map any more. */
  hasLeft = false;
  /** Whether the client has the whole map, so that it may go on from its position. */
  isWhole = false;
  epoch = "";
  /** Undefined where clients aren't told offsets. */
  offset: number | undefined;

  constructor(process: string) {
    this.process = process;
  }

  /** The client begins with nothing. */
  forget(): void {
    this.values.clear();
    this.isWhole = false;
    this.offset = undefined;
  }

  apply(entry: MapEntryTold): void {
    if (entry.value === undefined) this.values.delete(entry.key);
    else this.values.set(entry.key, entry);
  }
}

/** A change that somebody asked for. */
export interface AskedChange {
  readonly key: string;
  /** Undefined for a removal. */
  readonly value: string | undefined;
  readonly version: number | undefined;
  readonly ifOffset: number | undefined;
  readonly invokedTime: number;
  outcome: "open" | "made" | "refused" | "suppressed" | "unknown";
  /** Where the change was seen. */
  epoch?: string;
  offset?: number;
  /** The position that was acknowledged last when the change was asked for: the change comes after it. */
  readonly after: { readonly epoch: string; readonly offset: number } | undefined;
}

/** What somebody held for the state of the map at an offset. */
export interface SeenState {
  readonly process: string;
  readonly time: number;
  readonly epoch: string;
  readonly offset: number;
  readonly values: ReadonlyMap<string, MapEntryTold>;
}

/** Everything that was observed of one map. */
export class MapRecord {
  readonly name: string;
  isEphemeral = false;
  /** Whether code of the channel sets the keys: the first who is told a value says what was set. */
  isCoded = false;
  /** Undefined if ends of keys aren't judged. */
  keyTtlMs: number | undefined;
  /** What changed at each offset, by epoch, as far as somebody was told. */
  readonly epochs = new Records(() => new Map<number, MapEntryTold>());
  /** When somebody was first told what changed at an offset, µs. */
  readonly #toldTimes = new Map<string, number>();
  /** By the ID of the change. */
  readonly asked = new Map<string, AskedChange>();
  readonly copies = new Records((process) => new MapCopy(process));
  readonly seen: SeenState[] = [];
  /** The newest position that was acknowledged. */
  acknowledged: { readonly epoch: string; readonly offset: number } | undefined;
  /** The whole state in the end. */
  final: SeenState | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Notes that somebody was told of a change. */
  told(epoch: string, offset: number, time: number): void {
    const place = `${epoch}:${offset}`;
    if (!this.#toldTimes.has(place)) this.#toldTimes.set(place, time);
  }

  /** When somebody was first told what changed at an offset, µs. */
  toldTime(epoch: string, offset: number): number | undefined {
    return this.#toldTimes.get(`${epoch}:${offset}`);
  }
}
