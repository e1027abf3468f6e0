import type { Batch } from "../contract/relay-batch.ts";
import { entryBytes } from "../contract/entry-bytes.ts";

/**
 * Batches that wait for an answer about their channel, in the order in which they came. Of what there is no room for, it
 * keeps that it came: so the gap is noticed, and read from the history or told (rule L3).
 */
export class BatchBuffer {
  #batches: Batch[] = [];
  #bytes = 0;
  /** Stands for everything that came after there was no room any more. */
  #overflow: Batch | undefined;
  readonly #bytesMax: number;

  /** @param bytesMax how much it may hold */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(batch: Batch): void {
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
  takeAll(): readonly Batch[] {
    const all = this.#overflow === undefined ? this.#batches : [...this.#batches, this.#overflow];
    this.#batches = [];
    this.#bytes = 0;
    this.#overflow = undefined;
    return all;
  }
}

function emptied(batch: Batch): Batch {
  return { ...batch, first: batch.first + batch.entries.length, entries: [] };
}

function laterOf(one: Batch | undefined, other: Batch): Batch {
  if (one === undefined) return other;
  const [earlier, later] = one.instance <= other.instance ? [one, other] : [other, one];
  if (earlier.instance === later.instance) return one.first > other.first ? one : other;
  // A later instance's numbers don't tell that something of the earlier one is missing; a hole in them does.
  return { ...later, first: Math.max(later.first, 2) };
}

/** A batch that holds nothing still takes room. */
const batchBytes = 256;
