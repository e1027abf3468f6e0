import type { Complain } from "../violations.ts";
import type { GrowthRecord, SeenTexts, TextChange } from "./growth-record.ts";

/**
 * Compares the texts that were seen of a map with the changes up to their offset (rule Z2): a client shows what they made
 * durable, at least. Of a change that nobody was told of it is known only that some key changed, so keys that weren't changed
 * since aren't judged.
 *
 * @returns how many states were compared
 */
export function compareSeen(record: GrowthRecord, complain: Complain): number {
  let compared = 0;
  for (const [epoch, changes] of record.epochs) {
    const seen = record.seen.filter((state) => state.epoch === epoch);
    seen.sort((one, other) => one.offset - other.offset);
    const replay = new Replay(epoch, changes);
    for (const state of seen) {
      replay.advance(state.offset, complain);
      replay.compare(state, complain);
      compared++;
    }
    replay.advance(Math.max(0, ...changes.keys()), complain);
  }
  return compared;
}

/** The changes of one epoch, one after the other. */
class Replay {
  readonly #epoch: string;
  readonly #changes: ReadonlyMap<number, TextChange>;
  /** The last known change of each key, removals included. */
  readonly #known = new Map<string, { readonly offset: number; readonly length: number }>();
  #offset = 0;
  /** The last offset of which nobody was told. */
  #unknownOffset = 0;

  constructor(epoch: string, changes: ReadonlyMap<number, TextChange>) {
    this.#epoch = epoch;
    this.#changes = changes;
  }

  advance(offset: number, complain: Complain): void {
    while (this.#offset < offset) {
      const change = this.#changes.get(++this.#offset);
      if (change === undefined) this.#unknownOffset = this.#offset;
      else this.#apply(change, complain);
    }
  }

  compare({ process, time, offset, lengths }: SeenTexts, complain: Complain): void {
    const where = `at ${this.#epoch}:${offset}`;
    for (const [key, known] of this.#known) {
      // An unknown change may have removed the key.
      if (known.offset < this.#unknownOffset) continue;
      const shown = lengths.get(key) ?? gone;
      if (known.length === gone && shown !== gone)
        complain(
          "resurrected",
          process,
          time,
          `${process} shows ${key} ${where}, which is removed`,
        );
      else if (shown === gone && known.length !== gone)
        complain("lost", process, time, `${process} lacks ${key} ${where}`);
      else if (shown < known.length) {
        const text = `${process} shows ${shown} characters of ${key} ${where}, where ${known.length} are durable`;
        complain("lost", process, time, text);
      }
    }
  }

  #apply({ key, length = gone }: TextChange, complain: Complain): void {
    const before = this.#known.get(key)?.length ?? gone;
    const place = `${this.#epoch}:${this.#offset}`;
    if (length !== gone && length < before)
      complain(
        "forgotten",
        "",
        0,
        `${key} has ${length} characters at ${place}, and had ${before}`,
      );
    this.#known.set(key, { offset: this.#offset, length });
  }
}

/** The length of a text that isn't there. */
const gone = -1;
