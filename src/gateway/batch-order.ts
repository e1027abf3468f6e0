import type { StreamPosition } from "../protocol/publication.ts";
import { type RelayBatch, type RelayEntry, entryBytes } from "../contract/relay-batch.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { sameStream } from "./cursor.ts";

/** What a batch brings to a gateway. */
type SortedBatch =
  | {
      readonly outcome: "sorted";
      /** How far the gateway is once it has delivered the entries. */
      readonly cursor: Cursor;
      /** What is new, in order. */
      readonly entries: readonly RelayEntry[];
      /** Publications are missing. This must wait until they are there; it may hold nothing but where the stream stands. */
      readonly rest?: RelayBatch;
      /** A removal of the history may be among what was never heard. */
      readonly skipped: boolean;
    }
  /** Something is missing and can't be had, or nobody knows whether it is. */
  | { readonly outcome: "insufficient-state" };

/**
 * Finds what is new in a batch (rule L1). The numbers tell what was taken already. What is missing in a stream the offsets
 * tell, and it can be read; without history a missing number is a loss.
 */
export function sortBatch(batch: RelayBatch, cursor: Cursor): SortedBatch {
  if (batch.instance < cursor.instance) return sortOlder(batch, cursor);
  const { first, entries, top, instance } = batch;
  const isNewer = instance > cursor.instance;
  const before = isNewer ? 0 : cursor.sequence;
  const last = first + entries.length - 1;
  const isKnown = !isNewer && (entries.length > 0 ? last <= before : last < before);
  // Repeated or overtaken, unless it tells of more: should a clock have been set back, two instances began at the same time.
  if (isKnown && !isAhead(top, cursor.position)) return nothingNew(cursor);
  // One without entries that ends where we are says where the stream stands now.
  const position = positionIn(cursor.position, top);
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

/** Of an instance that is gone only its publications still count, where the offsets say that they are new. */
function sortOlder(batch: RelayBatch, cursor: Cursor): SortedBatch {
  const { top } = batch;
  const { position } = cursor;
  if (top === undefined || position === undefined) return nothingNew(cursor);
  // It tells of a stream that has ended, long before we were told of the next one.
  if (!sameStream(top, position)) return nothingNew(cursor);
  const publications: RelayBatch = { ...batch, entries: batch.entries.filter(isInStream) };
  const sorted = sortEntries(publications, position, () => false);
  return {
    outcome: "sorted",
    cursor: { ...cursor, position: sorted.position },
    entries: sorted.entries,
    ...(sorted.rest === undefined ? {} : { rest: sorted.rest }),
    skipped: false,
  };
}

/** Takes what follows the position without a hole, and leaves the rest. */
function sortEntries(
  batch: RelayBatch,
  from: StreamPosition,
  taken: (number: number) => boolean,
): { position: StreamPosition; entries: readonly RelayEntry[]; rest?: RelayBatch } {
  const entries: RelayEntry[] = [];
  let { offset } = from;
  for (const [index, entry] of batch.entries.entries()) {
    const number = batch.first + index;
    if (taken(number)) continue;
    if (isInStream(entry)) {
      const next = entry.publication.offset;
      if (next <= offset) continue;
      if (next > offset + 1) {
        const rest = { ...batch, first: number, entries: batch.entries.slice(index) };
        return { position: { ...from, offset }, entries, rest };
      }
      offset = next;
    }
    entries.push(entry);
  }
  const position = { ...from, offset };
  if (batch.top === undefined || batch.top.offset <= offset) return { position, entries };
  const rest = { ...batch, first: batch.first + batch.entries.length, entries: [] };
  return { position, entries, rest };
}

/** Where the gateway stands in the stream that a batch tells of. */
function positionIn(
  position: StreamPosition | undefined,
  top: StreamPosition | undefined,
): StreamPosition | undefined | "insufficient-state" {
  // History was switched on or off. What was published around then nobody can know to be complete.
  if ((position === undefined) !== (top === undefined)) return "insufficient-state";
  if (position === undefined || top === undefined) return undefined;
  if (sameStream(position, top)) return { ...position, epoch: position.epoch || top.epoch };
  // Before the first publication nothing was at stake, and the first one tells clients the epoch (docs/protocol.md 2.6).
  return position.offset === 0 ? { ...position, epoch: top.epoch } : "insufficient-state";
}

function isAhead(top: StreamPosition | undefined, position: StreamPosition | undefined): boolean {
  if (top === undefined || position === undefined) return false;
  return sameStream(top, position) && top.offset > position.offset;
}

function isInStream(entry: RelayEntry): entry is RelayEntry & { readonly type: "publication" } {
  return entry.type === "publication" && entry.publication.offset > 0;
}

const insufficientState: SortedBatch = { outcome: "insufficient-state" };

function nothingNew(cursor: Cursor): SortedBatch {
  return { outcome: "sorted", cursor, entries: [], skipped: false };
}

/**
 * Batches that wait for an answer about their channel, in the order in which they came. Of what there is no room for, it
 * keeps that it came: so the gap is noticed, and read from the history or told (rule L3).
 */
export class BatchBuffer {
  #batches: RelayBatch[] = [];
  #bytes = 0;
  /** Stands for everything that came after there was no room any more. */
  #overflow: RelayBatch | undefined;
  readonly #bytesMax: number;

  /** @param bytesMax how much it may hold */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(batch: RelayBatch): void {
    // The channel's name is in each push that they become.
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

  /** Everything, to be judged anew. */
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
  // A later instance's numbers don't tell that something of the earlier one is missing; a hole in them does.
  return { ...later, first: Math.max(later.first, 2) };
}

/** A batch that holds nothing still takes room. */
const batchBytes = 256;
