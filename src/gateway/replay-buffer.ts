import { limits } from "../limits.ts";
import type { Publication } from "../protocol/publication.ts";
import { publicationBytes } from "../contract/relay-batch.ts";
import type { Follower } from "./follower.ts";

/**
 * The newest publications of one channel, for clients that recover together: the history is read once for each position,
 * not once for each client (rule L6). It holds everything from its start to where the gateway stands, without a hole. It is
 * open for a short time after a read only, or a gateway would hold the histories of all its channels.
 */
export class ReplayBuffer {
  /** The offset before the first publication; undefined while the window is closed. */
  #start: number | undefined;
  #publications: Publication[] = [];
  #bytes = 0;
  #endsAtMs = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get isOpen(): boolean {
    return this.#start !== undefined;
  }

  /** The newest publication, if there is one since the start. */
  get last(): Publication | undefined {
    return this.#publications.at(-1);
  }

  /** Begins at the offset where the gateway stands, unless it is open: before a read, so that what comes meanwhile is held. */
  open(offset: number, nowMs: number): void {
    if (this.#start !== undefined) return;
    this.#start = offset;
    this.#endsAtMs = nowMs + limits.replayBufferMs;
  }

  /** Forgets everything: the history was removed, or the gateway can't vouch for what it holds. */
  close(): void {
    this.#start = undefined;
    this.#publications = [];
    this.#bytes = 0;
  }

  /** Forgets what it holds, and goes on holding what comes. */
  empty(): void {
    if (this.#start === undefined) return;
    this.#start += this.#publications.length;
    this.#publications = [];
    this.#bytes = 0;
  }

  /** Closes when the read that opened it is long ago. Not while one is under way, which needs what comes meanwhile. */
  expire(nowMs: number): void {
    // A clock that was set back must not keep it open for longer.
    if (nowMs >= this.#endsAtMs || nowMs < this.#endsAtMs - limits.replayBufferMs) this.close();
  }

  /** Takes the next publication. */
  append(publication: Publication): void {
    if (this.#start === undefined) return;
    // With a hole it could vouch for nothing.
    if (publication.offset !== this.#start + this.#publications.length + 1) {
      this.close();
      return;
    }
    this.#publications.push(publication);
    this.#bytes += publicationBytes(publication);
    this.#trim();
  }

  /**
   * Joins what was read with what came meanwhile, and keeps as much of it as there is room for.
   *
   * @param read publications that follow on each other, oldest first
   * @returns everything from the first one read to where the gateway stands; undefined when something between is missing
   */
  merge(read: readonly Publication[]): readonly Publication[] | undefined {
    const start = this.#start;
    if (start === undefined) return undefined;
    const before = read.filter(({ offset }) => offset <= start);
    const first = before[0];
    if (first === undefined) return this.#publications;
    // One missing in what was read would be one missing here.
    if (first.offset + before.length - 1 !== start) return undefined;
    const merged = [...before, ...this.#publications];
    this.#start = first.offset - 1;
    this.#publications = [...merged];
    this.#bytes += before.reduce((sum, publication) => sum + publicationBytes(publication), 0);
    this.#trim();
    return merged;
  }

  /** Everything after an offset; undefined when the window doesn't reach back that far, or not up to it. */
  since(offset: number): readonly Publication[] | undefined {
    if (this.#start === undefined || offset < this.#start) return undefined;
    const skipped = offset - this.#start;
    return skipped > this.#publications.length ? undefined : this.#publications.slice(skipped);
  }

  #trim(): void {
    let dropped = 0;
    for (const publication of this.#publications) {
      if (this.#bytes <= limits.replayBufferBytesMax) break;
      this.#bytes -= publicationBytes(publication);
      dropped++;
    }
    if (dropped === 0 || this.#start === undefined) return;
    this.#publications.splice(0, dropped);
    this.#start += dropped;
  }
}

/** What a gateway holds for clients that recover together, of all its channels: bounded, and let go of in time. */
export class ReplayBudget {
  /** The oldest first. */
  readonly #bytes = new Map<Follower, number>();
  #totalBytes = 0;
  #nextCheckMs = 0;

  /** Something happened to a follower: its window may hold more now, or less. */
  note(follower: Follower): void {
    this.#count(follower);
    for (const oldest of this.#bytes.keys()) {
      if (this.#totalBytes <= limits.replayBudgetBytesMax) return;
      oldest.dropReplayBuffer();
      this.#count(oldest);
    }
  }

  /** A follower is there no more. */
  forget(follower: Follower): void {
    this.#totalBytes -= this.#bytes.get(follower) ?? 0;
    this.#bytes.delete(follower);
  }

  /** Lets go of what is old, also where nothing happens any more. Looks at most once in the time that a window lives. */
  expire(nowMs: number): void {
    if (nowMs < this.#nextCheckMs && nowMs >= this.#nextCheckMs - limits.replayBufferMs) return;
    this.#nextCheckMs = nowMs + limits.replayBufferMs;
    for (const follower of this.#bytes.keys()) {
      follower.expireReplayBuffer(nowMs);
      this.#count(follower);
    }
  }

  #count(follower: Follower): void {
    const bytes = follower.replayBufferBytes;
    this.#totalBytes += bytes - (this.#bytes.get(follower) ?? 0);
    if (bytes === 0) this.#bytes.delete(follower);
    else this.#bytes.set(follower, bytes);
  }
}
