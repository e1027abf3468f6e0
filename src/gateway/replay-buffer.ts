import { SharedRun } from "../channel/shared-run.ts";
import { limits } from "../limits.ts";
import type { Publication } from "../protocol/publication.ts";
import { type Erased, holeOf } from "../contract/erased.ts";
import { publicationBytes } from "../contract/relay-batch.ts";

/**
 * The newest publications of one channel on a gateway, for clients that recover together: the history is read once for
 * each position, not once for each client (rule L6). The buffer holds every publication from its start up to the
 * cursor, without a hole. It is open only while a read is in flight and for `limits.replayBufferMs` after the read that
 * opened it, or a gateway would hold the histories of all its channels.
 */
export class ReplayBuffer {
  /** The offset before the first publication; undefined while the buffer is closed. */
  #start: number | undefined;
  #publications: Publication[] = [];
  #bytes = 0;
  #endsAtMs = 0;
  /** Whether a read that is in flight may bring publications that were removed meanwhile. */
  #mayReadRemoved = false;
  readonly #shared = new SharedRun();
  readonly #amends: boolean;

  /**
   * @param amends whether publications get other contents later: then it keeps for nobody what has come, and is there only
   *               to join what comes during a read to what is read
   */
  constructor(amends = false) {
    this.#amends = amends;
  }

  /** The bytes of its publications. */
  get bytes(): number {
    return this.#bytes;
  }

  get isOpen(): boolean {
    return this.#start !== undefined;
  }

  /** The newest publication since the start; undefined if there is none that may be given to somebody. */
  get last(): Publication | undefined {
    return this.#amends ? undefined : this.#publications.at(-1);
  }

  /**
   * Opens the buffer at the offset of the cursor, unless it is open already. Call this before a read, so that the
   * publications that come meanwhile are kept.
   */
  open(offset: number, nowMs: number): void {
    if (this.#start !== undefined) return;
    this.#start = offset;
    this.#endsAtMs = this.#amends ? nowMs : nowMs + limits.replayBufferMs;
  }

  /** Drops all publications and takes no more. */
  close(): void {
    this.#shared.clear();
    this.#start = undefined;
    this.#publications = [];
    this.#bytes = 0;
    this.#mayReadRemoved = false;
  }

  /**
   * The history was removed: drops all publications, goes on taking those that come, and keeps nothing of what was read,
   * until the buffer is closed.
   */
  empty(): void {
    this.#shared.clear();
    if (this.#start === undefined) return;
    this.#mayReadRemoved = true;
    this.#start += this.#publications.length;
    this.#publications = [];
    this.#bytes = 0;
  }

  /** Blanks publications that are erased. */
  erase(erased: Erased): void {
    this.#shared.clear();
    this.#publications = this.#publications.map((one) => holeOf(one, erased) ?? one);
  }

  /**
   * Closes the buffer if the read that opened it is long ago. Don't call this while a read is in flight: its reply
   * needs the publications that come meanwhile.
   */
  expire(nowMs: number): void {
    // A clock that was set back must not keep the buffer open for longer.
    if (nowMs >= this.#endsAtMs || nowMs < this.#endsAtMs - limits.replayBufferMs) this.close();
  }

  /** Takes the next publication, unless the buffer is closed. */
  append(publication: Publication): void {
    if (this.#start === undefined) return;
    // A buffer with a hole would be of no use.
    if (publication.offset !== this.#start + this.#publications.length + 1) {
      this.close();
      return;
    }
    this.#publications.push(publication);
    this.#bytes += publicationBytes(publication);
    this.#trim();
  }

  /**
   * Joins the publications that were read to those that came meanwhile, and keeps as many of them as there is room for.
   *
   * @param read consecutive publications, oldest first
   * @returns every publication from the first one read up to the cursor; undefined if one of them is missing
   */
  merge(read: readonly Publication[]): readonly Publication[] | undefined {
    const start = this.#start;
    if (start === undefined) return undefined;
    const meanwhile = this.#amends ? asRead(this.#publications, read) : this.#publications;
    const before = read.filter(({ offset }) => offset <= start);
    const first = before[0];
    if (first === undefined) return meanwhile;
    // A publication that is missing in `read` would be missing in the buffer.
    if (first.offset + before.length - 1 !== start) return undefined;
    const merged = [...before, ...meanwhile];
    if (this.#mayReadRemoved || this.#amends) return merged;
    this.#start = first.offset - 1;
    this.#publications = [...merged];
    this.#bytes += before.reduce((sum, publication) => sum + publicationBytes(publication), 0);
    this.#trim();
    return merged;
  }

  /** Every publication after an offset; undefined if the buffer begins after it or ends before it. */
  since(offset: number): readonly Publication[] | undefined {
    if (this.#amends || this.#start === undefined || offset < this.#start) return undefined;
    const skipped = offset - this.#start;
    if (skipped > this.#publications.length) return undefined;
    const read = (): readonly Publication[] => this.#publications.slice(skipped);
    const last = this.#start + this.#publications.length;
    return offset === last || this.#bytes > limits.recentBytesMax
      ? read()
      : this.#shared.of(offset + 1, last, read);
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

/** The memory for all replay buffers of a gateway: bounded by `limits.replayBudgetBytesMax`, and freed in time. */
export class ReplayBudget {
  /** The bytes of each follower's replay buffer; the follower whose buffer was filled first comes first. */
  readonly #bytes = new Map<BufferHolder, number>();
  #totalBytes = 0;
  #nextCheckMs = 0;

  /**
   * Counts a follower's replay buffer again, which may hold more or less than before. Drops the oldest buffers if all
   * together are too large.
   */
  note(follower: BufferHolder): void {
    this.#count(follower);
    for (const oldest of this.#bytes.keys()) {
      if (this.#totalBytes <= limits.replayBudgetBytesMax) return;
      oldest.dropReplayBuffer();
      this.#count(oldest);
    }
  }

  /** The follower doesn't exist any more. */
  forget(follower: BufferHolder): void {
    this.#totalBytes -= this.#bytes.get(follower) ?? 0;
    this.#bytes.delete(follower);
  }

  /**
   * Closes old buffers, even of channels on which nothing happens. Looks at them at most once every
   * `limits.replayBufferMs`.
   */
  expire(nowMs: number): void {
    if (nowMs < this.#nextCheckMs && nowMs >= this.#nextCheckMs - limits.replayBufferMs) return;
    this.#nextCheckMs = nowMs + limits.replayBufferMs;
    for (const follower of this.#bytes.keys()) {
      follower.expireReplayBuffer(nowMs);
      this.#count(follower);
    }
  }

  #count(follower: BufferHolder): void {
    const bytes = follower.replayBufferBytes;
    this.#totalBytes += bytes - (this.#bytes.get(follower) ?? 0);
    if (bytes === 0) this.#bytes.delete(follower);
    else this.#bytes.set(follower, bytes);
  }
}

/** A follower, as far as the budget needs it. */
interface BufferHolder {
  readonly replayBufferBytes: number;
  dropReplayBuffer(): void;
  expireReplayBuffer(nowMs: number): void;
}

/** These publications, each as it was read if it was. */
function asRead(
  publications: readonly Publication[],
  read: readonly Publication[],
): readonly Publication[] {
  const byOffset = new Map(read.map((one) => [one.offset, one]));
  return publications.map((one) => byOffset.get(one.offset) ?? one);
}

/** A publication as it is in the history: without the epoch, which clients get with the first publication only. */
export function asInHistory(publication: Publication): Publication {
  if (publication.epoch === undefined) return publication;
  const { epoch: _, ...rest } = publication;
  return rest;
}

/** A publication as it is pushed: the first one of a history carries the epoch (docs/protocol.md 2.6). */
export function asLive(publication: Publication, epoch: string): Publication {
  return publication.offset === 1 ? { ...publication, epoch } : publication;
}
