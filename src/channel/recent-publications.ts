import { limits } from "../limits.ts";
import type { Publication } from "../protocol/publication.ts";
import { SharedRun } from "./shared-run.ts";

/**
 * The newest publications that somebody has read, in memory: clients that return one after the other have missed the
 * same ones, and each row is read once for all of them. It is empty until the first read, so a channel to which nobody
 * returns keeps nothing, and publishing doesn't touch it. All of it may be lost.
 */
export class RecentPublications {
  /** Consecutive offsets, oldest first. */
  readonly #kept: SizedPublication[] = [];
  #bytes = 0;
  readonly #shared = new SharedRun();

  /**
   * Which of the publications at these offsets are kept: those up to an offset, or none.
   *
   * @returns the first offset that isn't kept, and the bytes of those before it
   */
  covers(first: number, last: number): { readonly until: number; readonly bytes: number } {
    let bytes = 0;
    let until = first;
    for (const { publication, bytes: one } of this.#from(first)) {
      if (publication.offset > last) break;
      bytes += one;
      until = publication.offset + 1;
    }
    return { until, bytes };
  }

  /** The kept publications at these offsets, oldest first. */
  read(first: number, last: number): Publication[] {
    const publications: Publication[] = [];
    for (const { publication } of this.#from(first)) {
      if (publication.offset > last) break;
      publications.push(publication);
    }
    return publications;
  }

  /** The same if all of them are kept: one list for all who ask for it (rule R7). */
  readAll(first: number, last: number): readonly Publication[] {
    return this.#shared.of(first, last, () => this.read(first, last));
  }

  /**
   * Keeps publications that were read, as many of the newest as `limits` allow.
   *
   * @param newest consecutive ones, oldest first
   */
  keep(newest: readonly SizedPublication[]): void {
    const [first] = newest;
    if (first === undefined) return;
    const last = this.#kept.at(-1)?.publication.offset;
    if (last !== undefined && last + 1 !== first.publication.offset) this.clear();
    for (const sized of newest) {
      this.#kept.push(sized);
      this.#bytes += sized.bytes;
    }
    const { recentPublicationsMax, recentBytesMax } = limits;
    while (this.#kept.length > recentPublicationsMax || this.#bytes > recentBytesMax)
      this.#bytes -= this.#kept.shift()?.bytes ?? 0;
  }

  /** Forgets all of them: their rows have been deleted or numbered anew. */
  clear(): void {
    this.#shared.clear();
    this.#kept.length = 0;
    this.#bytes = 0;
  }

  /** Those from an offset on; none if the publication at that offset isn't kept. */
  #from(first: number): readonly SizedPublication[] {
    const index = first - (this.#kept[0]?.publication.offset ?? Number.POSITIVE_INFINITY);
    return index < 0 ? [] : this.#kept.slice(index);
  }
}

/** A publication, and the bytes that its row takes, with its tags and info. */
export interface SizedPublication {
  readonly publication: Publication;
  readonly bytes: number;
}
