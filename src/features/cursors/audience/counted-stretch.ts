import type { PartedChannel } from "../../../channel/channel-part.ts";
import { isReadable } from "../../../protocol/change-tags.ts";
import type { TagsFilter } from "../../../protocol/tags-filter.ts";

/**
 * The publications of a stretch of a channel's stream that count for its members: those that pass the filter (rule
 * CU4), and those that the history has lost (rule CU6). They are read in slices, the newest ones first: lost
 * publications are older than all kept ones.
 */
export class CountedStretch {
  /** Everything up to this offset came before the stretch. */
  readonly after: number;
  readonly last: number;
  readonly #filter: TagsFilter | undefined;
  /** The offsets that are kept and pass, and their publishers: newest first until all are read, and then oldest first. */
  readonly #offsets: number[] = [];
  readonly #publishers: (string | undefined)[] = [];
  /** Where each publisher's publications are among them. */
  readonly #own = new Map<string, number[]>();
  /** Everything from here on is read, or isn't kept. */
  #first: number;
  /** The last offset of the stretch that the history has lost; {@link after} if it has lost none. */
  #lastLost: number;

  constructor(after: number, last: number, filter: TagsFilter | undefined) {
    this.after = after;
    this.last = last;
    this.#filter = filter;
    this.#first = last + 1;
    this.#lastLost = after;
  }

  /**
   * Reads the next slice.
   *
   * @param stored has the kept publications
   * @returns whether all are read
   */
  read(stored: Pick<PartedChannel["stored"], "labels">, rowsMax: number): boolean {
    const last = this.#first - 1;
    const first = Math.max(this.after + 1, last - rowsMax + 1);
    const kept = first > last ? [] : stored.labels(first, last);
    for (const { offset, publisher, tags } of kept.toReversed()) {
      if (!isReadable(tags) || this.#filter?.matches(tags) === false) continue;
      this.#offsets.push(offset);
      this.#publishers.push(publisher);
    }
    this.#first = first;
    const lost = last - first + 1 - kept.length;
    if (lost > 0) this.#lastLost = first - 1 + lost;
    if (lost === 0 && first > this.after + 1) return false;
    this.#order();
    return true;
  }

  /** The publications after one offset, and up to another one, that count for a user; undefined if none does. */
  countFor(user: string, after: number, to: number): CountedPublications | undefined {
    const lostAfter = Math.max(after, this.after);
    const lostTo = Math.min(to, this.#lastLost);
    const lost = Math.max(0, lostTo - lostAfter);
    let low = indexAfter(this.#offsets, Math.max(after, this.#lastLost));
    let high = indexAfter(this.#offsets, to) - 1;
    const own = this.#own.get(user) ?? [];
    const ownCount = Math.max(0, indexAfter(own, high) - indexAfter(own, low - 1));
    const kept = Math.max(0, high - low + 1) - ownCount;
    if (lost + kept <= 0) return undefined;
    // Where none of the others is left, nothing of what is here counts.
    if (kept > 0) {
      while (this.#publishers[low] === user) low++;
      while (this.#publishers[high] === user) high--;
    }
    const from = lost > 0 ? lostAfter + 1 : (this.#offsets[low] ?? 0);
    return { from, to: kept > 0 ? (this.#offsets[high] ?? 0) : lostTo, count: lost + kept };
  }

  #order(): void {
    this.#offsets.reverse();
    this.#publishers.reverse();
    for (const [index, publisher] of this.#publishers.entries()) {
      if (publisher === undefined) continue;
      const own = this.#own.get(publisher);
      if (own === undefined) this.#own.set(publisher, [index]);
      else own.push(index);
    }
  }
}

/** Publications that count, from the first to the last one. */
export interface CountedPublications {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** The index of the first of ascending numbers that is larger than a number. */
function indexAfter(numbers: readonly number[], after: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
