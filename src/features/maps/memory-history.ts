import type { ScannedRows } from "../../ring.ts";
import { publicationBytes } from "../../contract/relay-batch.ts";
import { mapLimits } from "./limits.ts";
import type { Publication } from "../../protocol/publication.ts";
import type {
  HistoryEntry,
  HistoryRows,
  OffsetRange,
  PublicationLabels,
  StoredKey,
  StoredPublication,
  Stream,
} from "../../channel/history-table.ts";
import type { SizedPublication } from "../../channel/recent-publications.ts";

/**
 * The changes of an ephemeral map, in memory: the newest ones, as far as `limits` allow (rule Z11). It stands in for
 * `HistoryTable`, so that the stream of an ephemeral map is read and recovered as every other one.
 */
export class MemoryHistory implements HistoryRows {
  readonly size = mapLimits.ephemeralStreamSize;
  /** Consecutive offsets, oldest first. */
  #kept: KeptChange[] = [];
  #bytes = 0;

  create(): void {
    this.drop();
  }

  drop(): void {
    this.#kept = [];
    this.#bytes = 0;
  }

  clear(): void {
    this.drop();
  }

  /** A stream in memory has the same size for as long as it lives. */
  resize(stream: Stream): Stream {
    return stream;
  }

  writeStream(): void {
    // The stream is in the memory of `History`, too.
  }

  append(entry: HistoryEntry, stream: Stream): void {
    const { data, info, tags, key, removed, score, grown } = entry;
    const publication: Publication = {
      data,
      offset: stream.top,
      ...(info === undefined ? {} : { info }),
      ...(tags === undefined ? {} : { tags }),
      ...(key === undefined ? {} : { key }),
      ...(removed === undefined ? {} : { removed }),
      ...(score === undefined ? {} : { score }),
      ...(grown === undefined ? {} : { grown: { pieces: 0 } }),
    };
    const bytes = publicationBytes(publication);
    const idempotencyKey = entry.idempotencyKey === "" ? undefined : entry.idempotencyKey;
    this.#kept.push({ publication, bytes, timeMs: stream.timeMs, key: idempotencyKey });
    this.#bytes += bytes;
    while (this.#kept.length > this.size || this.#bytes > mapLimits.ephemeralStreamBytesMax)
      this.#bytes -= this.#kept.shift()?.bytes ?? 0;
  }

  /** The changes of a map stay as they are. */
  amend(): void {}

  erase(): void {}

  rewrite(): void {}

  rewritten(): void {}

  /** No row of an ephemeral map is an edit, and none can be erased. */
  naming(): ScannedRows {
    return { offsets: [] };
  }

  changesOf(): ScannedRows {
    return { offsets: [] };
  }

  read(range: OffsetRange, reverse: boolean): Publication[] {
    const read = this.#at(range).map(({ publication }) => publication);
    return reverse ? read.toReversed() : read;
  }

  find(offset: number): StoredPublication | undefined {
    return this.#at({ first: offset, last: offset })[0];
  }

  readSized(range: OffsetRange): SizedPublication[] {
    return [...this.#at(range)];
  }

  bytes(range: OffsetRange): number {
    return this.#at(range).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  pageEnd(range: OffsetRange, bytesMax: number, eachBytes: number): number {
    let bytes = 0;
    for (const kept of this.#at(range)) {
      const { offset } = kept.publication;
      bytes += kept.bytes + eachBytes;
      if (bytes > bytesMax && offset > range.first) return offset - 1;
    }
    return range.last;
  }

  labels(range: OffsetRange): readonly PublicationLabels[] {
    return this.#at(range).map(({ publication: { offset, info, tags } }) => ({
      offset,
      publisher: info?.user,
      tags,
    }));
  }

  keys(range: OffsetRange): readonly StoredKey[] {
    return this.#at(range).map(({ publication, timeMs, key }) => ({
      offset: publication.offset,
      timeMs,
      key,
    }));
  }

  #at({ first, last }: OffsetRange): readonly KeptChange[] {
    const oldest = this.#kept[0]?.publication.offset ?? 0;
    return this.#kept.slice(Math.max(0, first - oldest), Math.max(0, last - oldest + 1));
  }
}

/** A change that is kept; `key` is its idempotency key. */
interface KeptChange extends SizedPublication, StoredPublication {
  readonly key: string | undefined;
}
