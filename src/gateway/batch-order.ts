import type { StreamPosition } from "../protocol/publication.ts";
import type { Erased } from "../contract/erased.ts";
import {
  type RelayBatch,
  type RelayEntry,
  entryBytes,
  withoutErased,
} from "../contract/relay-batch.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { sameStream } from "./cursor.ts";

/**
 * Finds the new entries of a batch (rule L1). The numbers tell which entries the gateway has taken already. With
 * history, the offsets tell which publications are missing, and these can be read. Without history, a missing number
 * means insufficient state.
 */
export function sortBatch(batch: RelayBatch, cursor: Cursor): SortedBatch {
  if (batch.instance < cursor.instance) return sortOlder(batch, cursor);
  const { first, entries, top, instance } = batch;
  const isNewer = instance > cursor.instance;
  const before = isNewer ? 0 : cursor.sequence;
  const last = first + entries.length - 1;
  const isKnown = !isNewer && (entries.length > 0 ? last <= before : last < before);
  // The batch is repeated or was overtaken, unless its top is ahead: after a clock was set back, two instances may have
  // begun at the same time.
  if (isKnown && !isAhead(top, cursor.position)) return nothingNew(cursor);
  // A batch without entries that ends at the cursor tells of the current top.
  const position = positionIn(cursor.position, batch);
  if (position === "insufficient-state") return insufficientState;
  const skipped = isNewer || first > before + 1;
  if (position === undefined) {
    if (first > before + 1) return insufficientState;
    const fresh = entries.slice(before + 1 - first);
    return { outcome: "sorted", cursor: { instance, sequence: last }, entries: fresh, skipped };
  }
  const sorted = sortEntries(batch, position, (number) => number <= before);
  const sequence = Math.max(before, sorted.rest === undefined ? last : sorted.rest.first - 1);
  return {
    outcome: "sorted",
    cursor: { instance, sequence, position: sorted.position },
    entries: sorted.entries,
    ...(sorted.rest === undefined ? {} : { rest: sorted.rest }),
    skipped,
  };
}

/** A batch in the order of the channel, and how far it takes the gateway. */
type SortedBatch =
  | {
      readonly outcome: "sorted";
      /** The gateway's cursor once it has passed on the entries. */
      readonly cursor: Cursor;
      /** The new entries, in order. */
      readonly entries: readonly RelayEntry[];
      /**
       * The part of the batch that must wait because publications before it are missing. It may have no entries and
       * tell only of the top.
       */
      readonly rest?: RelayBatch;
      /** Whether a removal of the history may be among entries that the gateway never got. */
      readonly skipped: boolean;
    }
  /** Entries are missing and can't be read, or it is unknown whether any are missing. */
  | { readonly outcome: "insufficient-state" };

/** Of the entries of an earlier instance, only publications still count, if their offsets say that they are new. */
function sortOlder(batch: RelayBatch, cursor: Cursor): SortedBatch {
  const { top, entries } = batch;
  const { position } = cursor;
  if (top === undefined || position === undefined) return nothingNew(cursor);
  // The batch is about a stream that ended long before the gateway received the position of the next one.
  if (!sameStream(top, position)) return nothingNew(cursor);
  // Publications before a removal may be of the stream before that of the top (rule Z5). If they are of the same one,
  // they are missing now, and are read.
  const removal = lastRemoval(entries);
  const publications: RelayBatch = {
    ...batch,
    entries: entries.filter((entry, index) => index > removal && isInStream(entry)),
  };
  const sorted = sortEntries(publications, position, () => false);
  return {
    outcome: "sorted",
    cursor: { ...cursor, position: sorted.position },
    entries: sorted.entries,
    ...(sorted.rest === undefined ? {} : { rest: sorted.rest }),
    skipped: false,
  };
}

/** Takes the entries that follow the position without a hole, and leaves the rest. */
function sortEntries(
  batch: RelayBatch,
  from: StreamPosition,
  taken: (number: number) => boolean,
): { position: StreamPosition; entries: readonly RelayEntry[]; rest?: RelayBatch } {
  const entries: RelayEntry[] = [];
  let { offset } = from;
  /** The index of the next publication, as it was looked for last. */
  let nextIndex = -1;
  const restFrom = (index: number): RelayBatch => {
    return { ...batch, first: batch.first + index, entries: batch.entries.slice(index) };
  };
  for (const [index, entry] of batch.entries.entries()) {
    if (taken(batch.first + index)) continue;
    if (isInStream(entry)) {
      const next = entry.publication.offset;
      if (next <= offset) continue;
      if (next > offset + 1)
        return { position: { ...from, offset }, entries, rest: restFrom(index) };
      offset = next;
    } else if (entry.type === "piece") {
      if (nextIndex < index) nextIndex = nextInStream(batch, index);
      const told = offsetBefore(batch, nextIndex);
      // Publications that came after the piece have been read, and have it.
      if (told < offset) continue;
      // Publications are missing that make up the value that it belongs to.
      if (told > offset) return { position: { ...from, offset }, entries, rest: restFrom(index) };
    }
    entries.push(entry);
  }
  const position = { ...from, offset };
  if (batch.top === undefined || batch.top.offset <= offset) return { position, entries };
  const rest = { ...batch, first: batch.first + batch.entries.length, entries: [] };
  return { position, entries, rest };
}

/** The gateway's position in the stream of a batch. */
function positionIn(
  position: StreamPosition | undefined,
  { top, entries }: RelayBatch,
): StreamPosition | undefined | "insufficient-state" {
  // History was switched on or off. Whether the publications around that time are complete is unknown.
  if ((position === undefined) !== (top === undefined)) return "insufficient-state";
  if (position === undefined || top === undefined) return undefined;
  if (sameStream(position, top)) return { ...position, epoch: position.epoch || top.epoch };
  // A map was cleared before its last changes were passed on: those before the removal aren't of the stream of the top
  // (rule Z5). Only the first publication of a stream has the epoch, and a crash may have lost that one.
  const removal = lastRemoval(entries);
  const isMixed = entries.some(
    (entry, index) =>
      isInStream(entry) &&
      (index < removal || (entry.publication.epoch ?? top.epoch) !== top.epoch),
  );
  // At offset 0 no publication can be missing, and the first publication tells clients the epoch
  // (docs/protocol.md 2.6).
  return position.offset === 0 && !isMixed
    ? { ...position, epoch: top.epoch }
    : "insufficient-state";
}

function isAhead(top: StreamPosition | undefined, position: StreamPosition | undefined): boolean {
  if (top === undefined || position === undefined) return false;
  return sameStream(top, position) && top.offset > position.offset;
}

/** The index of the last removal; -1 without one. */
function lastRemoval(entries: readonly RelayEntry[]): number {
  return entries.findLastIndex(({ type }) => type === "removed");
}

function isInStream(entry: RelayEntry): entry is RelayEntry & { readonly type: "publication" } {
  return entry.type === "publication" && entry.publication.offset > 0;
}

/** The index of the first publication after an entry; the number of the entries without one. */
function nextInStream({ entries }: RelayBatch, index: number): number {
  const next = entries.findIndex((entry, at) => at > index && isInStream(entry));
  return next === -1 ? entries.length : next;
}

/** The top before an entry that is a publication, or after the whole batch. */
function offsetBefore({ entries, top }: RelayBatch, index: number): number {
  const entry = entries[index];
  if (entry !== undefined && isInStream(entry)) return entry.publication.offset - 1;
  return top?.offset ?? 0;
}

const insufficientState: SortedBatch = { outcome: "insufficient-state" };

function nothingNew(cursor: Cursor): SortedBatch {
  return { outcome: "sorted", cursor, entries: [], skipped: false };
}

/**
 * Blanks what a batch says is erased, in whatever order it is carried out (rule ED14).
 *
 * @returns whether it says so: the channel's object counts on it that then nothing erased waits for the subscribers here, either
 */
export function eraseFrom(
  buffers: readonly ({ erase(erased: Erased): void } | undefined)[],
  { entries }: RelayBatch,
): boolean {
  const erased = entries.filter((entry) => entry.type === "erased");
  for (const one of erased) for (const buffer of buffers) buffer?.erase(one);
  return erased.length > 0;
}

/**
 * The batches that wait for a reply about their channel, in the order in which they came. If there is no room for a
 * batch, the buffer keeps only the fact that it came. So the gap is noticed later. Then the publications are read from
 * the history, or the subscriptions end with insufficient state (rule L3).
 */
export class BatchBuffer {
  #batches: RelayBatch[] = [];
  #bytes = 0;
  /** Stands for all batches that came after the buffer was full. */
  #overflow: RelayBatch | undefined;
  readonly #bytesMax: number;

  /** @param bytesMax the most that the buffer may hold */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  append(batch: RelayBatch): void {
    // The channel's name is in each push that the entries become.
    const nameBytes = batch.channel.length;
    const bytes = batch.entries.reduce(
      (sum, entry) => sum + entryBytes(entry) + nameBytes,
      batchBytes,
    );
    if (this.#overflow === undefined && this.#bytes + bytes <= this.#bytesMax) {
      this.#batches.push(batch);
      this.#bytes += bytes;
    } else {
      this.#overflow = laterOf(this.#overflow, emptied(batch));
    }
  }

  /** Blanks publications that are erased. */
  erase(erased: Erased): void {
    this.#batches = this.#batches.map((batch) => ({
      ...batch,
      entries: batch.entries.map((entry) => withoutErased(entry, erased)),
    }));
  }

  /** Returns all batches, to be sorted again, and empties the buffer. */
  takeAll(): readonly RelayBatch[] {
    const all = this.#overflow === undefined ? this.#batches : [...this.#batches, this.#overflow];
    this.#batches = [];
    this.#bytes = 0;
    this.#overflow = undefined;
    return all;
  }
}

function emptied(batch: RelayBatch): RelayBatch {
  return { ...batch, first: batch.first + batch.entries.length, entries: [] };
}

function laterOf(one: RelayBatch | undefined, other: RelayBatch): RelayBatch {
  if (one === undefined) return other;
  const [earlier, later] = one.instance <= other.instance ? [one, other] : [other, one];
  if (earlier.instance === later.instance) return one.first > other.first ? one : other;
  // The numbers of a later instance don't show that entries of the earlier one are missing; a gap in them does.
  return { ...later, first: Math.max(later.first, 2) };
}

/** The bytes of a batch without entries. */
const batchBytes = 256;

/** Hears of the publications that a gateway takes, of all its channels. */
export interface BatchObserver {
  /** The gateway has taken a batch. */
  took(batch: RelayBatch): void;
  /** The gateway has read the publications at these offsets, both included, because it had missed them (rule L3). */
  read(channel: string, first: number, last: number): void;
}
