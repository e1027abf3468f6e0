import type { EventKind } from "../../object/part.ts";
import type { EventCount } from "./object-state.ts";

/**
 * How often an object had something to do, by kind, since it woke and in its last hour (rule Y4). The hour is counted in
 * parts of ten minutes.
 */
export class EventCounts {
  readonly #kinds = new Map<EventKind, EventWindow>();
  #first: EventKind | undefined;

  /** Notes an event; the first one woke the object. */
  note(kind: EventKind, nowMs: number): void {
    this.#first ??= kind;
    const counts = this.#kinds.get(kind) ?? {
      total: 0,
      parts: new Float64Array(partsKept),
      part: 0,
    };
    this.#kinds.set(kind, counts);
    advance(counts, nowMs);
    counts.total++;
    const index = counts.part % partsKept;
    counts.parts[index] = (counts.parts[index] ?? 0) + 1;
  }

  /** The event that woke the object. */
  get first(): EventKind | undefined {
    return this.#first;
  }

  /** All kinds that came, in the order in which they first did. */
  counts(nowMs: number): readonly EventCount[] {
    return [...this.#kinds].map(([kind, counts]) => {
      advance(counts, nowMs);
      const lastHour = counts.parts.reduce((sum, count) => sum + count, 0);
      return { kind, sinceWake: counts.total, lastHour };
    });
  }
}

interface EventWindow {
  total: number;
  readonly parts: Float64Array;
  /** The number of the newest part since 1970. */
  part: number;
}

/** Empties the parts that have passed since the last event. */
function advance(counts: EventWindow, nowMs: number): void {
  const part = Math.max(counts.part, Math.floor(nowMs / partMs));
  const passed = Math.min(part - counts.part, partsKept);
  for (let index = part - passed + 1; index <= part; index++) counts.parts[index % partsKept] = 0;
  counts.part = part;
}

const partMs = 600_000;
const partsKept = 6;
